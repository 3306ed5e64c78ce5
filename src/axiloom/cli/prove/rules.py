"""``axiloom prove rules``: rewrite rules of selection, each with its proof or its counter-example."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from axiloom.base.errors import UsageError
from axiloom.base.files import write_whole
from axiloom.cli.applet import Applet, option
from axiloom.cli.prove import shared

if TYPE_CHECKING:
    from axiloom.selection.rules.library import RuleText
    from axiloom.selection.rules.prove.verdicts import Proof

ORDER = ("refuted", "not decided", "proved")


def chosen(files: Sequence[Path], names: Sequence[str]) -> list[RuleText]:
    """Texts of rules: ours, or of files; of them those with these names. Raises UsageError, RuleError."""
    from axiloom.base.wording.names import hint
    from axiloom.selection.rules import library

    texts = [library.load(file) for file in files] or list(library.every())
    if not names:
        return texts
    known = {rule.name for text in texts for rule in text.rules}
    for name in names:
        if name not in known:
            raise UsageError(f"--rule {name}: no such rule{hint(name, known)}")
    return [text.only(names) for text in texts if any(rule.name in names for rule in text.rules)]


def execute(
    files: Sequence[Path] = (),
    rule: Sequence[str] = (),
    names: bool = False,
    again: bool = False,
    limit: int = shared.LIMIT_S,
    json_file: Path | None = None,
) -> int:
    texts = chosen(files, rule)
    rules = [rule for text in texts for rule in text.rules]
    if names:
        for item in rules:
            said = item.text.partition("\n")[0]
            print(f"{item.name:<32} {item.sense:<9} {item.place:<24} {said}".rstrip())
        return 0
    # Imported here: z3 is for this command alone.
    from axiloom.prove import solvers

    solvers.check()
    from axiloom.selection.rules.prove import proved

    begun = time.perf_counter()
    if again:
        for item in rules:
            proved.forget(item)
    print("\n".join(_table([], [item.name for item in rules])))
    with tqdm(total=len(rules), unit=" rules", disable=None, leave=False) as shown:

        def say(proof: Proof) -> None:
            shown.clear()
            print("\n".join(_table([proof], [item.name for item in rules])[1:]))
            shown.update()

        proofs = proved.proofs(texts, limit, say)
    print(f"{summary(proofs)}; {time.perf_counter() - begun:.1f} s; {solvers.versions()}")
    if json_file:
        listed = [asdict(proof) | {"good": proof.good} for proof in proofs]
        write_whole(json_file, json.dumps({"rules": listed}, indent=1) + "\n")
    return 0 if all(proof.good for proof in proofs) else 1


def summary(proofs: Sequence[Proof]) -> str:
    """How many are proved, for all sizes or for some, and the names of those that are not."""
    every = sum(proof.good and proof.every_size for proof in proofs)
    some = sum(proof.good and not proof.every_size for proof in proofs)
    parts = [f"{every} proved for all sizes"]
    parts += [f"{some} for the sizes they state"] if some else []
    for answer in ORDER[:2]:
        names = [proof.rule for proof in proofs if proof.answer == answer]
        parts += [f"{len(names)} {answer} ({', '.join(names)})"] if names else []
    return f"{len(proofs)} rules: {', '.join(parts)}"


def _table(proofs: Sequence[Proof], names: Sequence[str]) -> list[str]:
    """A line a rule; of what is not proved, the reason below."""
    width = max(map(len, names), default=4)
    lines = [f"{'rule':<{width}}  {'sense':<8}  {'verdict':<11}  {'cases':>5}  {'tried':>5}  {'s':>6}  about"]
    for proof in proofs:
        seconds = "cached" if proof.kept else f"{proof.seconds:.1f}"
        lines.append(
            f"{proof.rule:<{width}}  {proof.sense:<8}  {proof.answer:<11}  {proof.cases:>5}  "
            f"{proof.tried:>5}  {seconds:>6}  {proof.about}".rstrip()
        )
        if not proof.good:
            lines.append(f"  {proof.place}: {proof.why}")
    return lines


_NAMED = {"names": "--list names the rules and proves nothing"}
APPLET = Applet(
    "prove rules",
    "rewrite rules of selection: both sides compute the same, for all sizes",
    execute,
    (
        option("files", nargs="*", type=Path, metavar="FILE.rules", help="default: all built in"),
        option("--rule", action="append", metavar="NAME", help="only this one; repeat for more"),
        option("--list", dest="names", action="store_true", help="name the rules with what they say and end"),
        option("--again", action="store_true", excludes=_NAMED, help="prove also what is kept in the cache"),
        replace(shared.limit("a rule"), first=False, excludes=_NAMED),
        replace(shared.JSON, first=False, excludes=_NAMED),
    ),
    "Without FILE: the rules that come with Axiloom. A rule is looked at on NumPy for a "
    "counter-example, then proved element by element, by rewriting and z3 (docs/selection.md). Selection "
    "uses proved rules alone. Exit code 1 if one is refuted or not decided, 3 if a file is faulty. "
    "Proofs are kept in the user's cache, by the content of rule, operations and prover.",
)
