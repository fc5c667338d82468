"""Timed text in tables: rows of start, end, speaker and text between tabs, commas or semicolons;
and the words of CTM.

Columns are known by their names; where these are in another language, by what stands in them.
"""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from transcripts.captions.builder import Captions, settle
from transcripts.captions.caption_errors import CaptionError, UnsureFrameRate
from transcripts.captions.drafts import FRAMES_A_SECOND, UNTIMED, CueDraft, counts_frames
from transcripts.captions.json_rows import (
    ENDS,
    LENGTHS,
    SPEAKERS,
    STARTS,
    SUFFIXES,
    TEXTS,
    drafts_of,
    fold,
)
from transcripts.captions.speech import are_names

# A line of CTM, which recognisers are scored by: recording, channel, start, length, word, sureness.
_CTM: Final = re.compile(  # start and length of a word, between its recording and how sure it is
    r"\S+[ \t]+[\w-]+[ \t]+([0-9]+\.[0-9]+)[ \t]+([0-9]+\.[0-9]+)[ \t]+(\S+)(?:[ \t]+[\w.-]+){0,3}"
)
_CTM_HEAD: Final = re.compile(rf"\s*(?:;;[^\n]*\n)*{_CTM.pattern}[ \t]*(?:\r?\n{_CTM.pattern}|\Z)")
_HEAD: Final = 4_000  # characters of the line of names and the next
_MOST: Final = 100_000  # characters of a cell
_TELLING: Final = ("start", "begin", "from")  # an offset or a time is in other tables, too
_EXACT: Final = re.compile(r"[0-9]{1,3}:[0-5][0-9]:[0-5][0-9](?:[.,:;][0-9]{1,9})?")

_Row = Mapping[str, str]


def is_table(text: str) -> bool:
    """Return whether the first row has a text and a time in a column that is called its start, or
    two exact times; or whether it is CTM.
    """
    if _CTM_HEAD.match(text):
        return True
    rows = _rows(text.lstrip()[:_HEAD].splitlines()[:2], text)
    exact = [cell for row in rows for cell in row.values() if _EXACT.fullmatch(cell.strip())]
    is_named = any(_has(row, _TELLING) and _has(row, TEXTS) for row in rows)
    return (is_named or len(exact) == 2) and any(
        draft.start != UNTIMED for draft in drafts_of(_called(rows))
    )


def read_table(text: str) -> Captions:
    """Read the rows, in seconds, milliseconds or as clock times, or the words of CTM.

    Raises ``CaptionError``.
    """
    if _CTM_HEAD.match(text):
        return settle(_drafts_of_ctm(text), format="ctm")
    csv.field_size_limit(_MOST)
    try:
        rows = _rows(text.lstrip().splitlines(keepends=True), text)
    except csv.Error as error:
        raise CaptionError(f"This table cannot be read: {error}.") from None
    warnings = (UnsureFrameRate(FRAMES_A_SECOND),) if counts_frames(text) else ()
    return settle(drafts_of(_called(rows)), format="tsv", warnings=warnings)


def _drafts_of_ctm(text: str) -> list[CueDraft]:
    words, others = [], []
    for line in map(str.strip, text.split("\n")):
        if word := _CTM.fullmatch(line):
            words.append({"start": word[1], "duration": word[2], "word": word[3]})
        elif line and not line.startswith(";;"):
            others.append(CueDraft(UNTIMED, None, line))
    return drafts_of(words) + others


def _rows(lines: Iterable[str], text: str) -> list[_Row]:
    """Return the rows by the names of their columns. Between tabs, quotation marks are text."""
    head = text.lstrip()[:_HEAD].partition("\n")[0]
    mark = max("\t,;", key=head.count)
    quoting: Any = {"quoting": csv.QUOTE_NONE, "quotechar": None} if mark == "\t" else {}
    table = csv.DictReader(lines, delimiter=mark, **quoting)
    return [{fold(name).strip(): cell or "" for name, cell in row.items() if name} for row in table]


def _called(rows: Sequence[_Row]) -> list[_Row]:
    """Give the columns that no known name tells one by what stands in them."""
    known = (*STARTS, *ENDS, *LENGTHS, *SPEAKERS, *TEXTS)
    unknown = [name for name in (rows[0] if rows else ()) if not _has([name], known)]
    said = {name: [row.get(name, "") for row in rows] for name in unknown}
    times = [name for name in unknown if all(map(_EXACT.match, said[name]))]
    names = [name for name in unknown if are_names(said[name], of=len(rows))]
    longest = sorted(unknown, key=lambda name: -sum(map(len, said[name])))
    called: dict[str, str] = {}
    for role, already, fitting in (
        ("start", STARTS, times),
        ("end", (*ENDS, *LENGTHS), times),
        ("speaker", SPEAKERS, names),
        ("text", TEXTS, longest),
    ):
        free = next((name for name in fitting if name not in called), None)
        if free is not None and not _has(rows[0], already):
            called[free] = role
    return [{called.get(name, name): cell for name, cell in row.items()} for row in rows]


def _has(names: Iterable[str], known: Iterable[str]) -> bool:
    """Return whether one of the names is known, with or without its unit."""
    forms = {name + suffix for name in known for suffix in SUFFIXES}
    return not forms.isdisjoint(names)
