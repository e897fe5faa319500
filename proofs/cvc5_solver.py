"""cvc5 in one place: a question in SMT-LIB goes in, one of three verdicts comes out.

Rules kept here:
1. The text is parsed by cvc5 itself: nothing of how Z3 builds or simplifies terms is shared.
2. `unsat` is PROVED, `sat` is REFUTED, everything else is UNKNOWN with the reason.
3. Each way of searching has its own time limit; the first that decides is believed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import cvc5

from .check import Verdict

LIMIT_MS = 30_000
"""For one way of searching. Typical questions take 0.1 to 2 s."""

PORTFOLIO: Sequence[Mapping[str, str]] = (
    {},
    {"full-saturate-quant": "true"},
    {"finite-model-find": "true"},
)
"""Ways of searching, tried in this order."""


def version() -> str:
    """The version of cvc5."""
    return str(cvc5.__version__)


def decide_ground(question: str, logic: str) -> tuple[Verdict, str]:
    """As `decide`, in a quantifier-free logic, which cvc5 holds the script to: a quantifier, or a
    product where the logic has none, is an error and so unknown."""
    answer = _ask(question, {}, LIMIT_MS, logic)
    known = {"unsat": Verdict.PROVED, "sat": Verdict.REFUTED}
    return known.get(answer, Verdict.UNKNOWN), "" if answer in known else answer


def decide(question: str, *, limit_ms: int = LIMIT_MS) -> tuple[Verdict, str]:
    """Whether an SMT-LIB script with one `(check-sat)` is unsatisfiable; the second value says
    why, where that is unknown."""
    answers = []
    for options in PORTFOLIO:
        answers.append(_ask(question, options, limit_ms))
        if answers[-1] == "unsat":
            return Verdict.PROVED, ""
        if answers[-1] == "sat":
            return Verdict.REFUTED, ""
    return Verdict.UNKNOWN, "; ".join(answers)


def _ask(question: str, options: Mapping[str, str], limit_ms: int, logic: str = "ALL") -> str:
    """What one way of searching answers; an error of cvc5 is an answer like "unknown"."""
    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("tlimit-per", str(limit_ms))
    for name, value in options.items():
        solver.setOption(name, value)
    solver.setLogic(logic)
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, question, "obligation")
    symbols, said = parser.getSymbolManager(), []
    try:
        while not (command := parser.nextCommand()).isNull():
            said.append(str(command.invoke(solver, symbols)).strip())
    except RuntimeError as error:  # what cvc5 raises for a text that it cannot read
        return f"unknown: {error}"
    return " ".join(text for text in said if text) or "unknown: nothing was asked"
