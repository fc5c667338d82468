"""Timed text in JSON, found by its structure: rows with text and times, in any names.

Recognisers write passages, words or both, at any depth, in seconds, milliseconds or ticks of 100
ns. Of several lists that say the same, the one with passages, speakers and more parts is read, and
gets the times of the words from another.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final, NamedTuple

from transcripts.captions.builder import WORD_TIME, speaking_time
from transcripts.captions.drafts import UNTIMED, CueDraft, milliseconds
from transcripts.captions.speech import Voices, clean, name_of
from transcripts.text.cues import Word

# Names without "_", in lower case; the first that a row has counts.
TEXTS: Final = (
    *("punctuatedword", "text", "body", "transcript", "display", "sentence", "caption"),
    *("segment", "word", "content", "value"),
)
_WORDS: Final = frozenset({"word", "punctuatedword", "content", "value"})  # and lists of these:
_LISTS_OF_WORDS: Final = frozenset({"words", "items", "elements", "wordsegments", "tokens", "word"})
SUFFIXES: Final = ("ms", "millis", "milliseconds", "inticks", "seconds", "offset", "time", "")
STARTS: Final = ("start", "starttime", "startoffset", "begin", "from", "offset", "timestamp", "ts")
ENDS: Final = ("end", "endtime", "endoffset", "stop", "to", "endts")
LENGTHS: Final = ("duration", "dur")
_UNITS: Final = {"ms": 1.0, "millis": 1.0, "milliseconds": 1.0, "inticks": 1e-4, "seconds": 1000.0}
SPEAKERS: Final = ("speakername", "speaker", "speakerlabel", "speakerid", "speakertag")
_LANGUAGES: Final = ("language", "lang", "languagecode", "locale")
_CHOICES: Final = frozenset({"alternatives", "nbest"})  # of which the first is the best
_NESTED: Final = frozenset({"timestamps", "timestamp"})
_LARGEST: Final = 10**15
_SECOND: Final = 1000.0  # ms
_UNHURRIED: Final = 30  # seconds of a word at 150 a minute, if times were in seconds
_SENTENCE_END: Final = (".", "!", "?", "…", "。", "！", "？")
_LONG: Final = 240  # characters of a passage made of words
_COARSE: Final = 500  # characters; a passage of more is a whole recording
_PAUSE: Final = 1_500  # ms between words, where a passage ends
_ALIKE: Final = 0.8  # of the letters of the longest list
_SIGN: Final = "[\u3040-\u30ff\u3400-\u9fff]"
_NEEDLESS: Final = re.compile(rf" (?=[,.;:!?…]+(?:\s|$))|(?<={_SIGN}) (?={_SIGN})")


class _Time(NamedTuple):
    value: float
    unit: float  # ms; 0 if the file does not say


class _Row(NamedTuple):
    path: str  # names of the lists and objects around it
    key: str  # of its text
    text: str
    start: _Time | None
    end: _Time | None
    speaker: str


class _Passage(NamedTuple):
    start: int  # ms, or ``UNTIMED``
    end: int | None
    text: str
    speaker: str


def drafts_of(content: object) -> list[CueDraft]:
    """Return what was said; [] if nothing in the JSON has text and times."""
    lists: dict[str, list[_Row]] = {}
    for row in _rows(content):
        lists.setdefault(row.path, []).append(row)
    timed = [rows for rows in map(_distinct, lists.values()) if any(row.start for row in rows)]
    if not timed:
        return []
    most = max(map(_letters, timed))
    alike = [rows for rows in timed if _letters(rows) >= most * _ALIKE]
    passages = [
        rows for rows in alike if not _are_words(rows) and _letters(rows) <= _COARSE * len(rows)
    ]
    words = next(filter(_are_words, alike), [])
    best = max(passages, key=lambda rows: (any(row.speaker for row in rows), len(rows)), default=[])
    timed_words = _joined_parts(_placed(words))
    if not best or (_voices(words) > 1 and not _voices(best)):
        spoken = list(_gathered(timed_words)) if words else _placed(alike[0])
    else:
        spoken = _placed(best)
    return _drafts(spoken, timed_words)


def language_of(content: object) -> object:
    """Return what an object, or the one in it, says of its language."""
    for part in (content, *(content.values() if isinstance(content, dict) else ())):
        part = part[0] if isinstance(part, list) and part else part
        if isinstance(part, dict) and isinstance(tag := _first(_folded(part), _LANGUAGES), str):
            return tag.replace("_", "-")
    return ""


def _drafts(spoken: Sequence[_Passage], words: Sequence[_Passage]) -> list[CueDraft]:
    in_order = sorted((word for word in words if word.start >= 0), key=attrgetter("start"))
    starts = [word.start for word in in_order]
    borders = sorted(passage.start for passage in spoken if passage.start >= 0)
    voices = Voices()
    drafts = []
    for passage in spoken:
        after = bisect_right(borders, passage.start)
        stop = borders[after] if after < len(borders) else _LARGEST
        first, last = (bisect_right(starts, moment - 1) for moment in (passage.start, stop))
        timed = tuple(Word(word.start, clean(word.text)) for word in in_order[first:last])
        text = voices.labelled(passage.speaker, clean(passage.text))
        drafts.append(CueDraft(passage.start, passage.end, text, timed))
    return drafts


def _rows(content: object) -> Iterator[_Row]:
    """Yield all that has text, with who speaks there or around it: by the names that stand apart,
    or by the number or mark itself.
    """
    listed = content.get("speakers") if isinstance(content, dict) else None
    people = [person for person in listed or () if isinstance(person, dict)]
    names = {
        str(person.get("id")): name_of(person["name"])
        for person in people
        if isinstance(person.get("name"), str)
    }
    waiting: list[tuple[object, str, str]] = [(content, "", "")]
    while waiting:
        node, path, speaker = waiting.pop()
        if isinstance(node, list):
            waiting.extend((item, path, speaker) for item in reversed(node))
        elif isinstance(node, dict):
            row = _folded(node)
            said = _first(row, SPEAKERS)
            said = said.get("name") if isinstance(said, dict) else said
            if isinstance(said, str | int) and not isinstance(said, bool) and said != "":
                speaker = names.get(str(said), "") or name_of(str(said))
            key = next((key for key in TEXTS if isinstance(row.get(key), str)), "")
            if key:
                yield _Row(path, key, row[key], *_times(row), speaker)
            for name, value in reversed(node.items()):
                is_choice = fold(name) in _CHOICES and isinstance(value, list)
                waiting.append((value[:1] if is_choice else value, f"{path}/{name}", speaker))


def fold(name: object) -> str:
    return str(name).replace("_", "").replace(" ", "").lower()


def _folded(node: Mapping[Any, Any]) -> dict[str, Any]:
    """Return an object by folded names, with what its best choice and its times say."""
    row = {fold(name): value for name, value in node.items()}
    for name in [*row]:
        inner = row[name]
        if name in _CHOICES and isinstance(inner, list):
            inner = inner[0] if inner else None
        if isinstance(inner, dict) and name in _CHOICES | _NESTED:
            row = {fold(key): value for key, value in inner.items()} | row
    return row


def _first(row: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)


def _times(row: Mapping[str, Any]) -> tuple[_Time | None, _Time | None]:
    start, end, length = (_time(row, names) for names in (STARTS, ENDS, LENGTHS))
    if isinstance(pair := row.get("timestamp"), list) and len(pair) == 2:
        start, end = map(_parsed, pair)
    if start is None:  # as the first of its words
        words = next((row[name] for name in (*_LISTS_OF_WORDS, "result") if row.get(name)), None)
        inside = [_times(_folded(word)) for word in words or () if isinstance(word, dict)]
        inside = [times for times in inside if times[0]]
        return (inside[0][0], inside[-1][1]) if inside else (None, None)
    if end is None and length is not None:
        if length.unit == start.unit == 0 and "start" in row:  # as youtube-transcript-api writes it
            start, length = start._replace(unit=_SECOND), length._replace(unit=_SECOND)
        unit = start.unit or length.unit or 1.0
        stop = start.value + length.value * (length.unit or 1.0) / unit
        end = start._replace(value=stop)
    return start, end


def _time(row: Mapping[str, Any], names: Iterable[str]) -> _Time | None:
    keys = ((name + suffix, suffix) for name in names for suffix in SUFFIXES)
    times = (_parsed(row.get(key), _UNITS.get(suffix, 0.0)) for key, suffix in keys)
    return next((time for time in times if time is not None), None)


def _parsed(value: object, unit: float = 0.0) -> _Time | None:
    """Read 1.5, "1.5", "1.5s", "PT1.5S", "00:00:01,500" or seconds with nanoseconds."""
    if isinstance(value, dict) and "seconds" in value:
        whole, part = (_parsed(value.get(name, 0)) for name in ("seconds", "nanos"))
        return _Time(whole.value + part.value / 1e9, _SECOND) if whole and part else None
    if isinstance(value, str):
        if not re.fullmatch(r"\s*[0-9]{1,15}(?:\.[0-9]{1,9})?\s*", value):
            written = milliseconds(value.removeprefix("PT").lower().replace("h", "h "))
            return None if written is None else _Time(written, 1.0)
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return _Time(value, unit) if 0 <= value <= _LARGEST else None


def _distinct(rows: Sequence[_Row]) -> list[_Row]:
    """Drop what a list says again, as Google's does with who speaks; that one is kept."""
    kept: dict[object, _Row] = {}
    for position, row in enumerate(rows):
        key = (row.start, row.text) if row.start else position
        if key not in kept or (row.speaker and not kept[key].speaker):
            kept[key] = row
    return list(kept.values())


def _letters(rows: Iterable[_Row]) -> int:
    return sum(len("".join(row.text.split())) for row in rows if row.start)


def _voices(rows: Iterable[_Row]) -> int:
    return len({row.speaker for row in rows if row.speaker})


def _are_words(rows: Sequence[_Row]) -> bool:
    is_usual = rows[0].key in _WORDS or fold(rows[0].path.rpartition("/")[2]) in _LISTS_OF_WORDS
    single = sum(" " not in row.text.strip() for row in rows)
    return is_usual and single * 10 >= len(rows) * 9


def _placed(rows: Sequence[_Row]) -> list[_Passage]:
    """Return rows in ms. The unit of plain numbers is told by how long words would last."""
    unsaid = [row for row in rows if row.start and not row.start.unit]
    words = sum(speaking_time(row.text) / WORD_TIME for row in unsaid)
    lengths = [row.end.value - row.start.value for row in unsaid if row.start and row.end]
    if not lengths and len(unsaid) > 1:
        starts = [row.start.value for row in unsaid if row.start]
        lengths = [max(starts) - min(starts)]
    a_word = sum(lengths) / words if words else 0.0
    usual = _SECOND if a_word < _UNHURRIED else 1.0 if a_word < _UNHURRIED * _SECOND else 1e-4
    return [
        _Passage(
            UNTIMED if row.start is None else round(row.start.value * (row.start.unit or usual)),
            None if row.end is None else round(row.end.value * (row.end.unit or usual)),
            row.text,
            row.speaker,
        )
        for row in rows
    ]


def _joined_parts(words: Sequence[_Passage]) -> list[_Passage]:
    """Join parts of words, which have no blank before them, and marks, which have no time."""
    said = [word for word in words if word.text.strip()]
    has_blanks = sum(word.text.startswith(" ") for word in said) * 3 > len(said)
    joined: list[_Passage] = []
    for word in said:
        text = word.text.strip()
        is_mark = not any(map(str.isalnum, text))
        is_part = has_blanks and not word.text.startswith(" ")
        if re.fullmatch(r"\[_.*\]|<\|.*\|>", text):
            continue
        if joined and (is_part or word.start == UNTIMED or is_mark):
            last = joined[-1]
            blank = "" if is_part or is_mark else " "
            joined[-1] = last._replace(text=last.text + blank + text, end=word.end or last.end)
        else:
            joined.append(word._replace(text=text))
    return joined


def _gathered(words: Sequence[_Passage]) -> Iterator[_Passage]:
    """Make passages of words: to the end of a sentence, a pause, or another voice."""
    part: list[_Passage] = []
    for word, following in zip(words, [*words[1:], None], strict=True):
        part.append(word)
        if (
            following is None
            or following.speaker != word.speaker
            or word.text.endswith(_SENTENCE_END)
            or following.start - (word.end or word.start) > _PAUSE
            or sum(len(said.text) + 1 for said in part) > _LONG
        ):
            text = _NEEDLESS.sub("", " ".join(said.text for said in part))
            yield _Passage(part[0].start, word.end, text, word.speaker)
            part = []
