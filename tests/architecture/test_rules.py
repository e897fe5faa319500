"""The house rules hold in every file; and each rule flags what was planted for it."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from tests.architecture import calls, imports, layout, torch_use, words
from tests.architecture.source import Rule, SourceFile, read_files

RULES = (*layout.RULES, *imports.RULES, *calls.RULES, *torch_use.RULES, *words.RULES)
FILES = read_files()
BAD = [(rule, path, text) for rule in RULES for path, text in rule.bad]
GOOD = [(rule, path, text) for rule in RULES for path, text in rule.good]


def name_of(value: object) -> str:
    return value.name.replace(" ", "-") if isinstance(value, Rule) else ""


@pytest.mark.parametrize("rule", RULES, ids=name_of)
def test_the_repository_keeps_the_rule(rule: Rule) -> None:
    findings = [finding for file in FILES for finding in rule.findings(file)]
    assert not findings, f"{rule.name}:\n" + "\n".join(findings)


@pytest.mark.parametrize(("rule", "path", "text"), BAD, ids=name_of)
def test_a_planted_defect_is_flagged_with_its_remedy(rule: Rule, path: str, text: str) -> None:
    findings = rule.findings(SourceFile(PurePosixPath(path), text))
    assert findings, f"{rule.name} does not see the defect in {text!r}"
    assert all(rule.remedy in finding and path in finding for finding in findings)


@pytest.mark.parametrize(("rule", "path", "text"), GOOD, ids=name_of)
def test_a_sound_file_is_left_alone(rule: Rule, path: str, text: str) -> None:
    assert rule.findings(SourceFile(PurePosixPath(path), text)) == []


@pytest.mark.parametrize("rule", RULES, ids=name_of)
def test_every_rule_has_controls_and_a_remedy(rule: Rule) -> None:
    assert rule.bad
    assert rule.good
    assert rule.remedy


def test_the_rules_read_the_four_packages_and_the_tests() -> None:
    folders = {file.folder for file in FILES if file.path.suffix == ".py"}
    assert folders >= {"protocol", "spec", "proofs", "runtime", "tests"}
