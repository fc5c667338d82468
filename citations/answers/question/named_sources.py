"""Sources that a question names: “In the talk “How BM25 ranks”, what …”; and their sections that it
names by number: “chapter 4”, “section 2.3”.

A title, also misspelt, counts where a word for a kind of source says that it is one, or quotation
marks or its own capitals after “in” or “according to”. Elsewhere a whole title counts if it can
hardly be anything else: a file's name, several words with capitals, or what is to be summed up.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from rapidfuzz import fuzz

from citations.answers.question.router import asked_fact, asks_for_the_whole
from citations.answers.question.wording import LISTS, any_of, content_words, without
from transcripts.text.tokenizer import tokenize

MAX_NAMED: Final = 3  # titles that one mention may mean: the parts of a series
MAX_TITLE: Final = 300  # characters of a title that are compared
MAX_QUESTION: Final = 1_000  # characters of a question that are looked at
MAX_MENTIONS: Final = 8  # of each form
SIMILAR: Final = 90.0  # of 100, from which on two spellings are the same title
_MIN_CONTENT_WORDS: Final = 2  # content words that a part of a title needs
_SHORTEST: Final = 4  # characters of a title of one word

_FILE_NAME: Final = re.compile(r"(?=.*\d)(?:\S{10,}|\w+(?:[-_.]+\w+){2,})")
_SEPARATOR: Final = re.compile(r"[^\W_][-_.]+[^\W_]")
_QUOTES: Final = '"“”„«»'
_LONG_TITLE: Final = 3  # words of a title that is rarely a subject
_SUFFIX: Final = re.compile(r"\.\w{1,5}(?!\w)")

_KIND: Final = any_of("kinds")
_THE: Final = any_of("articles")
_IN: Final = rf"(?P<place>(?<!\w){any_of('places')}\s+)?"
_CALLED: Final = rf"(?:{any_of('called')}\s+)?"
_FOLLOWING: Final = rf"(?:{any_of('sayings', 'verbs', 'question_words', 'made')}|about)(?!\w)"
_END: Final = rf"""(?=["”»’]?\s*(?:$|[,;:?.!)]|\s{_FOLLOWING}))"""
_QUOTED: Final = re.compile(
    rf"""{_IN}(?:(?P<the>(?<!\w){_THE})\s+)?(?:(?P<kind>(?<!\w){_KIND})\s+{_CALLED})?
    (?:"(?P<a>[^"]{{2,300}})"|[“„](?P<b>[^“”„]{{2,300}})[“”]|«\s?(?P<c>[^«»]{{2,300}}?)\s?»)
    (?=(?P<says>\s+{any_of("sayings")}(?!\w))?)""",
    re.VERBOSE | re.IGNORECASE,
)
_TITLE_AFTER_KIND: Final = re.compile(
    rf"{_IN}(?<!\w)(?P<the>{_THE})\s+(?:\w+\s+)?(?P<kind>{_KIND})\s*[,:]?\s+{_CALLED}"
    rf"(?:(?:the|an?)\s+)?(?P<rest>(?P<title>\w.{{0,200}}?){_END}.*)",
    re.IGNORECASE | re.DOTALL,
)
_TITLE_BEFORE_KIND: Final = re.compile(
    rf"{_IN}(?<!\w)(?P<the>{_THE})\s+(?P<title>(?:[\w'’:.&+-]+,?\s+){{2,12}}?)(?P<kind>{_KIND})"
    r"(?!['’-]?\w)",
    re.IGNORECASE,
)
_NUMBERED: Final = re.compile(
    rf"{_IN}(?:the\s+)?(?<!\w)(?P<title>(?P<kind>{_KIND})\s+(?:no\.?\s*|number\s+|#)?\d{{1,4}})"
    rf"(?!\w|\s+(?:of|from|in)\b){_END}",
    re.IGNORECASE,
)
_NTH: Final = re.compile(
    rf"{_IN}(?<!\w)(?P<the>{_THE})\s+(?P<nth>{any_of('ordinals')})\s+(?P<kind>{_KIND})(?!\w)",
    re.IGNORECASE,
)
_PART: Final = (
    rf"{_IN}(?:(?P<the>{_THE})\s+)?(?<!\w)(?P<title>{any_of('numbered_parts')}\s+\d{{1,3}}"
)
_NAMED_PART: Final = re.compile(rf"{_PART}\s+(?P<kind>\w+))(?!\w)", re.IGNORECASE)
_WHOLE_PART: Final = re.compile(rf"{_PART})(?!\w)", re.IGNORECASE)
_WORK: Final = re.compile(
    rf"{_IN}(?<!\w)(?P<the>{_THE})\s+(?P<title>(?P<kind>{any_of('works')}))(?!\w)", re.IGNORECASE
)
_WORDS: Final = (_NUMBERED, _NTH, _NAMED_PART, _WHOLE_PART, _WORK)  # name by words within a title
_PLACED: Final = re.compile(
    rf"(?<!\w)(?P<place>{any_of('places')})\s+(?:the\s+)?(?P<rest>\w.*)", re.IGNORECASE | re.DOTALL
)
_BEFORE: Final = re.compile(rf"(?<!\w){any_of('places')}\s+(?:the\s+)?$", re.IGNORECASE)
_ONLY: Final = re.compile(
    rf"""(?<!\w){_THE}\s+(?:(?P<document>{any_of("documents")})|{any_of("recordings")})(?!\w)
    (?!\s+(?:by|with|from|that|which|where|mit|{any_of("called")})(?!\w)(?!\W*$)|\s+["“„«]|[-–])""",
    re.VERBOSE | re.IGNORECASE,
)
_KIND_WORD: Final = re.compile(_KIND, re.IGNORECASE)
_ORDINALS: Final = LISTS["en"]["ordinals"]
_UNSPECIFIC: Final = frozenset(LISTS["en"]["unspecific"])


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedSource:
    """The named sources, by their keys, and the question without their names."""

    keys: frozenset[int]
    question: str


class _Mention(NamedTuple):
    """A stretch of a question that may name a source."""

    start: int
    end: int
    title: str  # what may be a title, or a part of it; empty where only a whole title counts
    rest: str = ""  # the question from the title on, where a whole title may be longer
    offset: int = 0  # of ``rest`` in the question
    kind: str = ""  # the word for a kind of source that stands with it
    article: str = ""
    is_placed: bool = False  # “in” or “according to” stands before it
    is_quoted: bool = False
    is_words: bool = False  # “lecture 4”, “week 1”, “the handbook”


class _Match(NamedTuple):
    length: int  # characters of the title that the question has
    is_whole: bool
    end: int  # of the naming in the question


def find_named_sources(question: str, titles: Sequence[tuple[int, str]]) -> NamedSource:
    """Find the sources that a question names by their titles, in whole or in part.

    Sources with the same title all count. Without a clear match there are no keys, and the question
    stays as it is.
    """
    for mention in _mentions(question):
        rest = _without(question, mention, mention.end)
        is_of_source = asks_for_the_whole(rest) or asked_fact(rest) is not None
        fewest = 1 if is_of_source and rest != question else _MIN_CONTENT_WORDS
        matches = [
            (match, key, title.casefold())
            for key, title in titles
            if (match := _match(mention, title[:MAX_TITLE].strip(), fewest))
        ]
        best = max((match[:2] for match, _, _ in matches), default=None)
        chosen = [(match, key, title) for match, key, title in matches if match[:2] == best]
        most = MAX_NAMED if bool(mention.kind) != mention.is_words else 1
        if chosen and len({title for _, _, title in chosen}) <= most:
            keys = frozenset(key for _, key, _ in chosen)
            return NamedSource(keys=keys, question=_without(question, mention, chosen[0][0].end))
    return _by_whole_titles(question, titles) or NamedSource(keys=frozenset(), question=question)


def definite_kind(question: str) -> str:
    """Return as what a question calls its only source: "document", "recording" or ""."""
    only = _ONLY.search(question[:MAX_QUESTION])
    return "" if only is None else "document" if only["document"] else "recording"


def title_words(question: str) -> list[str]:
    """Return words of which a named title has at least one; none if the question names none."""
    words: dict[str, None] = {}
    for mention in _mentions(question):
        text = mention.title or mention.rest
        own = [text] if mention.is_words else filter(_is_distinctive, text.split())
        words |= dict.fromkeys(word.strip('"“”„«».,;:?!()') for word in own)
    return [word for word in words if word]


# Where a title may stand


def _mentions(question: str) -> list[_Mention]:
    """Return the stretches that may name a source, the surest form first."""
    text = question[:MAX_QUESTION]
    mentions: list[_Mention] = []
    for form in (_QUOTED, _TITLE_AFTER_KIND, _TITLE_BEFORE_KIND, *_WORDS, _PLACED):
        match = form.search(text)
        for _ in range(MAX_MENTIONS):  # matches may overlap
            if match is None:
                break
            mentions += filter(None, [_mention(match)])
            match = form.search(text, match.start() + 1)
    return mentions


def _mention(match: re.Match[str]) -> _Mention | None:
    groups = defaultdict(str, match.groupdict(""))
    quoted = groups["a"] or groups["b"] or groups["c"]
    if quoted and not (groups["kind"] or groups["place"] or groups["says"]):
        return None
    title, rest = quoted or groups["title"].strip(), groups["rest"]
    if groups["nth"]:  # “the second lecture” is “lecture 2”
        title = f"{groups['kind']} {_ORDINALS.index(groups['nth'].casefold()) + 1}"
    return _Mention(
        match.start(),
        match.start("title") + len(title) if rest and title else match.end(),
        title,
        rest=rest,
        offset=match.start("rest") if rest else 0,
        kind=groups["kind"],
        article=groups["the"],
        is_placed=bool(groups["place"]),
        is_quoted=bool(quoted),
        is_words=match.re in _WORDS,
    )


# Whether it stands there


def _match(mention: _Mention, title: str, fewest: int) -> _Match | None:
    """Return how a title, or a part of so many telling words, matches a mention; None by chance."""
    folded = title.casefold()
    if mention.is_words:
        words = r"\s+0*".join(map(re.escape, mention.title.casefold().split()))
        is_there = re.search(rf"\b{words}\b", folded)
        return _Match(len(mention.title), is_whole=False, end=mention.end) if is_there else None
    if mention.rest and (end := _whole(mention, title)):
        return _Match(len(title), is_whole=True, end=mention.offset + end)
    phrase = mention.title.casefold()
    telling = sum(map(_is_distinctive, phrase.split()))
    if mention.is_quoted and fuzz.ratio(phrase, folded) >= SIMILAR:
        is_sure = telling >= _MIN_CONTENT_WORDS or bool(mention.kind)
        return _Match(len(title), is_whole=True, end=mention.end) if is_sure else None
    if telling < fewest or not mention.kind or len(phrase) > len(title):
        return None
    if telling == 1 and not re.search(rf"\b{re.escape(phrase)}\b", folded):
        return None
    is_part = fuzz.partial_ratio(phrase, folded, score_cutoff=SIMILAR)
    return _Match(len(phrase), is_whole=False, end=mention.end) if is_part else None


def _whole(mention: _Mention, title: str) -> int:
    """Return where in the rest of the question a title ends that stands at its beginning, or 0."""
    plain = title.rstrip("?!. ")
    beginning = mention.rest[: len(plain)]
    if not plain or fuzz.ratio(plain.casefold(), beginning.casefold()) < SIMILAR:
        return 0
    if mention.rest[len(plain) : len(plain) + 1].isalnum():
        return 0
    words = plain.split()
    telling = sum(map(_is_distinctive, words))
    has_capitals = plain[:1].isupper() and beginning == plain
    if mention.kind:
        is_name = telling == 1 and has_capitals and len(plain) >= _SHORTEST
        is_sure = telling >= _MIN_CONTENT_WORDS or is_name
    else:
        has_kind = any(map(_KIND_WORD.fullmatch, words))
        is_sure = len(words) > _MIN_CONTENT_WORDS <= telling and (has_capitals or has_kind)
    return len(plain) if is_sure else 0


def _is_distinctive(word: str) -> bool:
    """Tell a word that sets a title apart from stop words, numbers and words for sources."""
    return any(
        not (token in _UNSPECIFIC or token.isdecimal() or _KIND_WORD.fullmatch(token))
        for token in content_words(word)
    )


# Whole titles that stand anywhere


def _by_whole_titles(question: str, titles: Sequence[tuple[int, str]]) -> NamedSource | None:
    """Return the sources whose whole titles stand in a question and can hardly be subjects there.

    Of titles that overlap, the longest counts.
    """
    written = {key: title[:MAX_TITLE].strip() for key, title in titles}
    mentions: dict[str, _Mention] = {}
    for title in sorted(set(written.values()), key=len, reverse=True):
        mention = _whole_title(question[:MAX_QUESTION], title)
        if mention and not any(mention.title in other for other in mentions):
            mentions[mention.title] = mention
    if not 0 < len(mentions) <= MAX_NAMED:
        return None
    keys = frozenset(key for key, title in written.items() if title.casefold() in mentions)
    for mention in sorted(mentions.values(), reverse=True):  # the last one first: places stay right
        question = _without(question, mention, mention.end)
    return NamedSource(keys=keys, question=question)


def _whole_title(question: str, title: str) -> _Mention | None:
    folded = title.casefold()
    if len(folded) < _SHORTEST or folded not in question.casefold():
        return None
    match = re.search(rf"(?<!\w){re.escape(title)}(?!\w)", question, re.IGNORECASE)
    if match is None:
        return None
    start, end = match.span()
    if is_file := bool(_FILE_NAME.fullmatch(title) and _SEPARATOR.search(title)):
        suffix = _SUFFIX.match(question, end)
        end = suffix.end() if suffix else end
    start -= question[:start].endswith(tuple(_QUOTES))
    end += end < len(question) and question[end] in _QUOTES
    place = _BEFORE.search(question[:start])
    mention = _Mention(place.start() if place else start, end, folded, is_placed=place is not None)
    rest = _without(question, mention, end)
    is_whole = rest != question and (asks_for_the_whole(rest) or asked_fact(rest) is not None)
    is_summary = (words := content_words(rest)) and not any(map(_KIND_WORD.fullmatch, words))
    is_long = len(title.split()) >= _LONG_TITLE and any(map(_is_distinctive, title.split()))
    has_capitals = title[:1].isupper() and title in question[1:]
    is_named = is_long and has_capitals and rest != question
    return mention if is_file or is_named or (is_whole and (is_long or is_summary)) else None


# What is asked


def _without(question: str, mention: _Mention, end: int) -> str:
    """Return a question without the naming, or with “it” where it asks about the source itself."""
    pronoun = ""
    if not mention.is_placed:  # “it” in the language of the article
        its = (
            lists["it"][0]
            for lists in LISTS.values()
            if re.fullmatch("|".join(lists["articles"]), mention.article, re.IGNORECASE)
        )
        pronoun = next(its, "it")
    text = without(question, (mention.start, end), pronoun)
    is_question = bool(content_words(text)) or (bool(pronoun) and len(tokenize(text)) > 1)
    return text if is_question else question


NUMBERED: Final = r"^\W*(\w+\s+)?[0-9]"  # in PostgreSQL: headings that may have a number
_SECTION: Final = any_of("numbered_sections")
_NAMED: Final = re.compile(
    rf"""(?<!\w)(?P<place>{any_of("places")}\s+)?
    (?P<name>{_SECTION}\s+(?P<number>\d+(?:\.\d+)*))(?![\w.]*\d)
    (?:\s+(?:of|in|from|von|aus|de|du|del)\s+{any_of("articles")}\s+{any_of("kinds")}(?!\w))?""",
    re.VERBOSE | re.IGNORECASE,
)
_HEADING: Final = re.compile(
    rf"\W*(?:{_SECTION}\s+)?(?P<number>\d+(?:\.\d+)*)(?!\w)", re.IGNORECASE
)
Number = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedSection:
    """A section's number, its name in the question, and the question without it."""

    number: Number
    name: str
    question: str


class Heading(NamedTuple):
    """A heading, and the characters [first, last) of a passage below it."""

    text: str
    first: int
    last: int


def find_named_section(question: str) -> NamedSection | None:
    """Return the first section that a question names."""
    named = _NAMED.search(question)
    if named is None:
        return None
    goes_on = re.match(r"\s+\w", question[named.end() :])
    pronoun = "it" if goes_on and not named["place"] else ""
    text = without(question, named.span(), pronoun)
    return NamedSection(number=_number(named["number"]), name=named["name"], question=text)


def section_span(number: Number, headings: Sequence[Heading]) -> tuple[int, int] | None:
    """Return the characters of a section, from its first heading to the next higher number.

    ``headings`` are those of a source's passages in order; a passage without a number belongs to
    the section before it.
    """
    first = last = -1
    for heading in headings:
        own = heading_number(heading.text)[: len(number)]
        if own == number and first < 0:
            first = heading.first
        elif own > number and first >= 0:
            break
        last = heading.last
    return (first, last) if first >= 0 else None


def heading_number(heading: str) -> Number:
    """Return the number of a heading; () if it has none."""
    match = _HEADING.match(heading)
    return _number(match["number"]) if match else ()


def _number(text: str) -> Number:
    """Return “2.3” as (2, 3)."""
    return tuple(int(part) for part in text.split(".") if part)
