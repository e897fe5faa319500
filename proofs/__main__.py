"""`python -m dgap.proofs`: verify the transition table, or look at a single check.

    python -m dgap.proofs                     run all checks
    python -m dgap.proofs --core              run what Z3 proves for all W, nothing else
    python -m dgap.proofs --only step_count   run the checks whose id starts so
    python -m dgap.proofs --trace ID          run one check and print its trace or witness
    python -m dgap.proofs explain ID          say what a promise (S5) or a check claims, and why
    python -m dgap.proofs demo-bug NAME       a planted bug at work: finished-while-holding, ...
    python -m dgap.proofs replay TRACE...     replay the traces of a run (setting trace_dir)
    python -m dgap.proofs mutants             find the killer of every small change to the table
    python -m dgap.proofs certificates        look for instances that suffice for each obligation
    python -m dgap.proofs export              write the TLA+ module again (spec/Dgap.tla, .cfg)

The exit code is 0 only if there was a check and every check gave its expected verdict. A run of
all checks writes its report to verification.json, any other run only where --json says so.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dgap.protocol.table import TABLE

from .certify import remove_all_but, rewrite
from .check import Check
from .counterexample import save
from .demo_bug import DEMOS, MOST_RANKS, MOST_SAMPLES, SAMPLES, demo
from .explain import explain_check, explain_promise, is_promise
from .export import instance_of
from .export_tla import MODULE, tla
from .foreign import COMMITTED
from .kill_matrix import chosen_by, differences, killers_of, merge, record, recorded
from .manifest import core, manifest, select
from .replay import Unexplained, replay_files
from .replay import summary as replay_summary
from .report import as_json
from .run import Result, Standing, passed, run_check, run_checks, summary
from .second_opinion import claims
from .sequence import draw

REPORT = Path("verification.json")
COUNTEREXAMPLES = Path("runs/verify")
NAME_WIDTH, VERDICT_WIDTH = 50, 19


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code: 0 verified, 1 not verified, 2 wrong use."""
    options = _parser().parse_args(arguments)
    if options.command == "explain":
        return _explain(options.id)
    if options.command == "demo-bug":
        if len(options.samples) > MOST_RANKS:
            print(f"at most {MOST_RANKS} ranks can be drawn", file=sys.stderr)
            return 2
        print("\n".join(demo(options.name, options.samples)))
        return 0
    if options.command == "replay":
        return _replay(options.traces, options.cut)
    if options.command == "mutants":
        return _mutants(options.only, options.write)
    if options.command == "certificates":
        return _certificates(options.only, options.write)
    if options.command == "export":
        return _export(options.folder)
    if options.trace:
        return _trace(options.trace)
    checks = select(core(manifest()) if options.core else manifest(), options.only)
    if not checks:
        where = "among the core's checks" if options.core else "in the manifest"
        print(f"no check {where} has an id that starts with {options.only!r}", file=sys.stderr)
        return 2
    everything = not (options.core or options.only)
    return _verify(checks, options.json or (REPORT if everything else None))


_SAMPLES: Mapping[str, Any] = {
    "type": int,
    "nargs": "+",
    "default": SAMPLES,
    "choices": range(MOST_SAMPLES + 1),
    "metavar": "COUNT",
    "help": f"samples of each rank, at most {MOST_SAMPLES}",
}


def _file(text: str) -> Path:
    """A path that can be written, known before the checks have run."""
    path = Path(text)
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {path.parent}")
    return path


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m dgap.proofs", description=__doc__, allow_abbrev=False
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--core", action="store_true", help="Z3's proofs alone, in seconds")
    parser.add_argument("--only", metavar="PREFIX", default="", help="checks whose id starts so")
    parser.add_argument("--trace", metavar="ID", help="run one check and print its trace")
    parser.add_argument("--json", metavar="PATH", type=_file, help="where to write the report")
    commands = parser.add_subparsers(dest="command")
    explain = commands.add_parser("explain", help="say what a promise or a check claims")
    explain.add_argument("id", metavar="ID")
    bug = commands.add_parser("demo-bug", help="show a planted bug on small inputs")
    bug.add_argument("name", metavar="NAME", choices=sorted(DEMOS), help=", ".join(sorted(DEMOS)))
    bug.add_argument("--samples", **_SAMPLES)
    replay = commands.add_parser("replay", help="replay traces of real runs against the table")
    replay.add_argument("traces", metavar="TRACE", type=Path, nargs="*", help="file or folder")
    replay.add_argument("--cut", action="store_true", help="accept traces of killed ranks")
    mutants = commands.add_parser("mutants", help="find the killer of every mutant")
    mutants.add_argument("--only", metavar="PREFIX", default="", help="mutants whose id starts so")
    mutants.add_argument("--write", action="store_true", help="record what was found")
    found = commands.add_parser("certificates", help="find the instances that suffice")
    found.add_argument("--only", metavar="PREFIX", default="", help="checks whose id starts so")
    found.add_argument("--write", action="store_true", help="record what was found")
    export = commands.add_parser("export", help="write the TLA+ module of one instance")
    export.add_argument("folder", metavar="FOLDER", type=Path, nargs="?", default=Path("spec"))
    return parser


def _verify(checks: Sequence[Check], report: Path | None) -> int:
    started = time.perf_counter()
    results = []
    for result in run_checks(checks):
        results.append(result)
        print(line(result), flush=True)
        if result.standing != Standing.VERIFIED:
            _print_trace(result)
    seconds = time.perf_counter() - started
    if report is not None:
        report.write_text(json.dumps(as_json(results, seconds), indent=1) + "\n")
    print(summary(results, seconds))
    return 0 if passed(results) else 1


def line(result: Result) -> str:
    """One line: id, verdict, time, how far it reaches, property and statement."""
    check = result.check
    return (
        f"{check.id:{NAME_WIDTH}} {result.verdict:{VERDICT_WIDTH}} {result.seconds:6.2f} s  "
        f"{result.reach}  {check.property}: {check.statement}"
    )


def _print_trace(result: Result) -> None:
    """The trace; a run that can be repeated is drawn, and saved with a test that repeats it."""
    outcome = result.outcome
    if outcome is None:
        return
    drawn = outcome.trace if outcome.schedule is None else draw(outcome.schedule)
    for text in (outcome.detail, *drawn):
        print(f"    {text}".rstrip())
    if outcome.schedule is not None:
        for path in save(result.check.id, outcome.schedule, COUNTEREXAMPLES):
            print(f"    saved: {path}")


def _certificates(prefix: str, write: bool) -> int:
    """Look for certificates that are not minimal or missing, or write them anew."""
    started = time.perf_counter()
    chosen = [claim for claim in claims(TABLE) if claim.id.startswith(prefix)]
    changed = 0
    for id_ in rewrite(chosen, save=write):
        changed += 1
        print(f"{id_}: {'written' if write else 'not as recorded'}", flush=True)
    if write and not prefix:
        remove_all_but([claim.id for claim in chosen])
    seconds = time.perf_counter() - started
    print(f"certificates of {len(chosen)} checks, {changed} changed, {seconds:.0f} s")
    return 0 if chosen and (write or not changed) else 1


def _mutants(prefix: str, write: bool) -> int:
    """Compare what kills each mutant with the recorded matrix, or record it."""
    started, found = time.perf_counter(), {}
    for id_, by in killers_of(chosen_by(prefix)):
        found[id_] = by
        print(f"{id_:{NAME_WIDTH}} {by}", flush=True)
    if write:
        record(merge(found))
    defects = differences(found, recorded())
    print("\n".join(defects), end="\n" if defects else "")
    seconds = time.perf_counter() - started
    print(f"{len(found)} mutants, {len(defects)} not as recorded or surviving, {seconds:.0f} s")
    return 0 if found and not defects else 1


def _export(folder: Path) -> int:
    files = tla(instance_of(COMMITTED))
    for suffix, text in (("tla", files.module), ("cfg", files.config)):
        path = folder / f"{MODULE}.{suffix}"
        path.write_text(text)
        print(f"wrote {path}")
    return 0


def _named(name: str) -> Check | None:
    for check in manifest():
        if check.id == name:
            return check
    print(f"there is no check {name!r}; `--only PREFIX` selects by prefix", file=sys.stderr)
    return None


def _trace(name: str) -> int:
    check = _named(name)
    if check is None:
        return 2
    result = run_check(check)
    print(line(result))
    _print_trace(result)
    return 0 if passed([result]) else 1


def _explain(name: str) -> int:
    if is_promise(name):
        print("\n".join(explain_promise(name, manifest(), recorded())))
        return 0
    check = _named(name)
    if check is None:
        return 2
    print("\n".join(explain_check(check)))
    return 0


def _replay(paths: Sequence[Path], cut: bool) -> int:
    try:
        print("\n".join(replay_summary(replay_files(paths, cut=cut))))
    except Unexplained as error:
        print(f"not explained: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
