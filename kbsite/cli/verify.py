"""`kb verify`: check quotes one by one and print each verdict."""

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import typer
from rich.text import Text

from citations.errors import InvalidFilter, SourceNotFound
from citations.schemas.answers import QuoteCheckOut
from kbsite.cli.options import InCollection, Json, argument, option, video_ids
from kbsite.cli.server import chosen_library
from kbsite.cli.terminal import note, out, printable, say
from transcripts.core.errors import InvalidInput

MAX_LINE: Final = 1_000_000  # bytes
QUOTE_SHOWN: Final = 300  # characters

_STYLES: Final = {
    "verbatim": "bold green",
    "misattributed": "bold yellow",
    "altered": "bold red",
    "not_found": "bold red",
}


Check = Callable[..., QuoteCheckOut]  # of a quote, and of its claimed ``source``


class QuoteRequest(NamedTuple):
    """A quote to check and its claimed source; of a file's line, its number and any problem."""

    quote: str
    source: str
    line: int = 0
    problem: str = ""


def verify(
    quote: Annotated[str, argument("[QUOTE]", "The quote, word for word.")] = "",
    inside: Annotated[
        str,
        option(
            "--in",
            metavar="ID",
            help="The source or recording that the quote is said to be from.",
            autocompletion=video_ids,
        ),
    ] = "",
    file: Annotated[
        Path | None,
        option(
            "--file",
            metavar="QUOTES.jsonl",
            exists=True,
            dir_okay=False,
            help='Check many, one JSON per line: {"quote": "…", "source": "ID"} or a string.',
        ),
    ] = None,
    collection: InCollection = "",
    as_json: Json = False,
) -> None:
    """Check whether quotes are verbatim in the library.

    Shows the place of each quote and any differences. The exit code is 1 unless all are verbatim.
    """
    if bool(quote) == bool(file):
        raise InvalidInput(
            "There is nothing to check." if not quote else "A quote and a file exclude each other.",
            hint="Give a quote, or --file.",
        )
    requests: Iterable[QuoteRequest] = [QuoteRequest(quote, inside)]
    if file:
        requests = (
            _parse(line, number, inside)
            for number, line in enumerate(_lines(file), start=1)
            if line.strip()
        )
    collections = (collection,) if collection else ()
    with chosen_library() as library:
        check = partial(library.verify, collections=collections)
        are_all_verbatim = _verify_all(check, requests, as_json=as_json)
    if not are_all_verbatim:
        raise typer.Exit(1)


def _verify_all(check: Check, requests: Iterable[QuoteRequest], *, as_json: bool) -> bool:
    """Check and print the quotes; return whether all are verbatim.

    Reports an unusable line of a file, goes on, and raises ``InvalidInput`` at the end.
    """
    are_all_verbatim, unusable = True, 0
    for request in requests:
        result = _check(check, request)
        if result is None:
            unusable += 1
            continue
        is_verbatim = result.verdict == "verbatim" and not result.negation
        are_all_verbatim = are_all_verbatim and is_verbatim
        if as_json:
            line = {"line": request.line} if request.line else {}
            record = {**line, **result.model_dump(mode="json")}
            typer.echo(json.dumps(record, ensure_ascii=False))
        else:
            _print(result, request.line)
    if unusable:
        lines = "One line was" if unusable == 1 else f"{unusable:,} lines were"
        raise InvalidInput(
            f"{lines} not checked.",
            hint='A line is {"quote": "…", "source": "ID"}, or a JSON string.',
        )
    return are_all_verbatim


def _check(check: Check, request: QuoteRequest) -> QuoteCheckOut | None:
    """Check a quote; report an unusable line and return None."""
    problem = request.problem
    try:
        if not problem:
            return check(request.quote, source=request.source)
    except (SourceNotFound, InvalidFilter) as error:
        if not request.line:
            raise
        problem = error.message
    note(f"Line {request.line:,}: {problem}", "yellow")
    return None


def _lines(path: Path) -> Iterator[bytes]:
    """Yield a file's lines, each cut one byte beyond the limit."""
    with path.open("rb") as file:
        while line := file.readline(MAX_LINE + 1):
            yield line
            while len(line) > MAX_LINE and not line.endswith(b"\n"):
                line = file.readline(MAX_LINE + 1)


def _parse(line: bytes, number: int, source: str) -> QuoteRequest:
    def unusable(problem: str) -> QuoteRequest:
        return QuoteRequest("", "", number, problem)

    if len(line) > MAX_LINE:
        return unusable(f"It is longer than {MAX_LINE:,} bytes.")
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return unusable("It is not JSON.")
    fields = {"quote": row} if isinstance(row, str) else row
    if isinstance(fields, dict):
        quote, claimed = fields.get("quote"), fields.get("source") or source
        if isinstance(quote, str) and isinstance(claimed, str):
            return QuoteRequest(quote, claimed, number)
    return unusable("It is neither a text nor an object with a “quote” and an optional “source”.")


def _print(result: QuoteCheckOut, line: int) -> None:
    verdict = result.verdict.replace("_", " ") if result.is_enough else "too short to verify"
    number = Text(f"{line:,}: " if line else "", style="dim")
    head = number + Text(verdict, style=_STYLES[result.verdict])
    out().print(head + Text(f"  {_short(result.quote)}"), soft_wrap=True)
    if result.title is not None:
        is_elsewhere = result.verdict == "misattributed"
        prefix = "verbatim, but in another source: " if is_elsewhere else ""
        location = f"“{result.title}” {result.place}  {result.link or ''}".rstrip()
        say(f"  {prefix}{location}", "dim")
        if result.negation:
            say(f"  right before it stands “{result.negation}”: quote that word, too", "yellow")
        if result.verdict == "altered":
            say(f"  in the source: {_short(result.text)}")
    for difference in result.differences:
        sides = (" ".join(words.split()) for words in (difference.quoted, difference.actual))
        say(f"  {difference.kind}: " + " → ".join(f"“{side}”" for side in sides if side))


def _short(text: str) -> str:
    flat = " ".join(printable(text).split())
    return flat if len(flat) <= QUOTE_SHOWN else f"{flat[:QUOTE_SHOWN]}…"
