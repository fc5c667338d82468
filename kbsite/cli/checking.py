"""What `kb verify` does: quotes are checked one after the other, as they are read, and what is known of each is printed."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import typer
from rich.text import Text

from citations import verifying
from citations.filters import Filter
from citations.grounding import Verdict
from citations.verifying import Verified
from kbsite.cli.findings import place
from kbsite.cli.terminal import out, printable, say
from transcripts.conf import public_url
from transcripts.errors import InvalidInput
from transcripts.scope import Scope

LONGEST_LINE: Final = 1_000_000  # bytes of a file's line

_STYLES: Final = {Verdict.VERBATIM: "bold green", Verdict.MISATTRIBUTED: "bold yellow", Verdict.ALTERED: "bold red", Verdict.NOT_FOUND: "bold red"}


def asked(quote: str, source: str, file: Path | None) -> Iterator[tuple[str, str]]:
    """Yield the quotes to be checked, and where each is said to be from. Raises ``InvalidInput`` for a line that is none."""
    if file is None:
        yield quote, source
        return
    with file.open("rb") as lines:
        for number, line in enumerate(iter(lambda: lines.readline(LONGEST_LINE + 1), b""), start=1):
            if line.strip():
                yield _read(line, number, source)


def verify(scope: Scope, quotes: Iterable[tuple[str, str]], *, collection: str, as_json: bool) -> bool:
    """Check and print, with ``as_json`` a line of JSON a quote; say whether all are verbatim. Raises what ``verifying.verify`` raises."""
    wanted = Filter(collections=(collection,) if collection else ())
    are_all = True
    for quote, source in quotes:
        found = verifying.verify(scope, quote, source=source, wanted=wanted)
        are_all = are_all and found.verdict == Verdict.VERBATIM
        if as_json:
            typer.echo(json.dumps(_json(found), ensure_ascii=False))
        else:
            _print(found)
    return are_all


def _read(line: bytes, number: int, source: str) -> tuple[str, str]:
    try:
        if len(line) > LONGEST_LINE:
            raise ValueError
        row = json.loads(line)
        quote, claimed = (row, source) if isinstance(row, str) else (row["quote"], row.get("source") or source)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        quote = claimed = None
    if not isinstance(quote, str) or not isinstance(claimed, str):
        raise InvalidInput(f"Line {number} of the file is no quote.", hint='A line is {"quote": "…", "source": "ID"}, or a text in quotes, as JSON.')
    return quote, claimed


def _json(found: Verified) -> dict[str, Any]:
    origin, at = found.origin, found.locator
    return {
        "verdict": found.verdict.value,
        "quote": found.quote,
        "is_enough": found.is_enough,
        "source_id": str(origin.id) if origin else None,
        "title": origin.title if origin else None,
        "video": origin.key or None if origin else None,
        "text": found.text,
        "start": at.start / 1000 if at and at.start is not None else None,
        "end": at.end / 1000 if at and at.end is not None else None,
        "page": at.page if at else None,
        "last_page": at.last_page if at else None,
        "span": at.span if at else None,
        "link": f"{public_url()}{found.link}" if found.link else None,
        "differences": [one._asdict() for one in found.differences],
        "likeness": round(found.likeness, 3),
        "ms": round(found.milliseconds, 2),
    }


def _print(found: Verified) -> None:
    verdict = "too short to prove anything" if not found.is_enough else found.verdict.value.replace("_", " ")
    out().print(Text(verdict, style=_STYLES[found.verdict]) + Text(f"  {printable(found.quote[:200])}"), soft_wrap=True)
    if found.origin and found.locator:
        say(f"  “{found.origin.title}” {place(found.locator)}  {public_url()}{found.link}", "dim")
        out().print(Text(f"  {printable(found.text)}"), soft_wrap=True)
    for one in found.differences:
        say(f"  {one.kind}: {_words(one.quoted)} → {_words(one.actual)}")


def _words(words: str) -> str:
    return f"“{' '.join(words.split())}”" if words else "nothing"
