"""What `kb verify` does: quotes are checked one after the other, as they are read, and what is known of each is printed."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

import typer
from rich.text import Text

from citations.errors import InvalidFilter, SourceNotFound
from citations.library.filters import Filter
from citations.passages import place
from citations.quotes import verification
from citations.quotes.matching import Verdict, WordDifference
from citations.quotes.verification import VerifiedQuote
from kbsite.cli.terminal import note, out, printable, say
from transcripts.conf import public_url
from transcripts.errors import InvalidInput
from transcripts.scope import Scope

LONGEST_LINE: Final = 1_000_000  # bytes of a file's line

SHOWN: Final = 300  # characters of a quote

_STYLES: Final = {
    Verdict.VERBATIM: "bold green",
    Verdict.MISATTRIBUTED: "bold yellow",
    Verdict.ALTERED: "bold red",
    Verdict.NOT_FOUND: "bold red",
}


class QuoteRequest(NamedTuple):
    """A quote to be checked, and where it is said to be from; ``line`` is its number in a file, ``problem`` why that line is none."""

    quote: str
    source: str
    line: int = 0
    problem: str = ""


def asked(quote: str, source: str, file: Path | None) -> Iterator[QuoteRequest]:
    """Yield what is to be checked; a line of the file that is no quote with its problem."""
    if file is None:
        yield QuoteRequest(quote, source)
        return
    with file.open("rb") as lines:
        for number, line in enumerate(_lines(lines), start=1):
            if line.strip():
                yield _read(line, number, source)


def verify(scope: Scope, quotes: Iterable[QuoteRequest], *, collection: str, as_json: bool) -> bool:
    """Check and print, with ``as_json`` a line of JSON a quote; say whether all are verbatim.

    A line of a file that cannot be checked keeps none of the others from it: it is told on the error output, and ``InvalidInput`` is raised at the end.
    Raises what ``verifying.verify`` raises for a quote that is no line.
    """
    filter = Filter(collections=(collection,) if collection else ())
    are_all, broken = True, 0
    for one in quotes:
        found = _checked(scope, one, filter)
        if found is None:
            broken += 1
            continue
        are_all = are_all and found.verdict == Verdict.VERBATIM
        if as_json:
            typer.echo(
                json.dumps(
                    {**({"line": one.line} if one.line else {}), **_json(found)}, ensure_ascii=False
                )
            )
        else:
            _print(found, one.line)
    if broken:
        lines = "One line was" if broken == 1 else f"{broken:,} lines were"
        raise InvalidInput(
            f"{lines} not checked.",
            hint='A line is {"quote": "…", "source": "ID"}, or a text in quotes, as JSON.',
        )
    return are_all


def _checked(scope: Scope, one: QuoteRequest, filter: Filter) -> VerifiedQuote | None:
    """Check a quote; of a line that cannot be checked, say why and return None."""
    problem = one.problem
    try:
        if not problem:
            return verification.verify(scope, one.quote, source=one.source, filter=filter)
    except (SourceNotFound, InvalidFilter) as error:
        if not one.line:
            raise
        problem = error.message
    note(f"Line {one.line:,}: {problem}", "yellow")
    return None


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    """Yield lines; of one that is too long its beginning, which is too long as well, and the rest is passed over."""
    while line := file.readline(LONGEST_LINE + 1):
        yield line
        while len(line) > LONGEST_LINE and not line.endswith(b"\n"):
            line = file.readline(LONGEST_LINE + 1)


def _read(line: bytes, number: int, source: str) -> QuoteRequest:
    if len(line) > LONGEST_LINE:
        return QuoteRequest("", "", number, f"It is longer than {LONGEST_LINE:,} bytes.")
    try:
        row = json.loads(line)
        quote, claimed = (
            (row, source) if isinstance(row, str) else (row["quote"], row.get("source") or source)
        )
    except (ValueError, RecursionError):
        return QuoteRequest("", "", number, "It is not JSON.")
    except (KeyError, TypeError, AttributeError):
        quote = claimed = None
    if not isinstance(quote, str) or not isinstance(claimed, str):
        return QuoteRequest(
            "",
            "",
            number,
            "It is neither a text nor an object with a “quote” and, if any, a “source”.",
        )
    return QuoteRequest(quote, claimed, number)


def _json(found: VerifiedQuote) -> dict[str, Any]:
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


def _print(found: VerifiedQuote, line: int) -> None:
    verdict = (
        "too short to prove anything"
        if not found.is_enough
        else found.verdict.value.replace("_", " ")
    )
    head = Text(f"{line:,}: " if line else "", style="dim") + Text(
        verdict, style=_STYLES[found.verdict]
    )
    out().print(head + Text(f"  {_short(found.quote)}"), soft_wrap=True)
    if found.origin and found.locator:
        where = f"“{found.origin.title}” {place(found.locator)}"
        elsewhere = (
            "it stands word for word, but in another source: "
            if found.verdict is Verdict.MISATTRIBUTED
            else ""
        )
        say(f"  {elsewhere}{where}  {public_url()}{found.link}", "dim")
        if found.verdict is Verdict.ALTERED:
            say(f"  what stands there: {_short(found.text)}")
    for one in found.differences:
        say(f"  {one.kind}: {_differing(one)}")


def _short(text: str) -> str:
    """Return text on one line, with a mark where it was cut."""
    flat = " ".join(printable(text).split())
    return flat if len(flat) <= SHOWN else f"{flat[:SHOWN]}…"


def _differing(one: WordDifference) -> str:
    """Return the words that the quote adds or leaves out, or what it says and what stands there."""
    return " → ".join(
        f"“{' '.join(words.split())}”" for words in (one.quoted, one.actual) if words.strip()
    )
