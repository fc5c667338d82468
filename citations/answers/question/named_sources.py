"""Sources that a question names: “In the talk “How BM25 ranks”, what …”. Pure.

Narrowing a search wrongly hides the answer, so a title counts only where the question says that it is one: by a word for a kind of source (“the lecture on
…”), by quotation marks behind “in”, “from” or “according to”, or as a whole, of several words, with its own capitals. In doubt nothing is named.
"""

import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, Generic, NamedTuple, TypeVar

from citations.answers.question.words import content
from transcripts.tokenizer import tokenize

K = TypeVar("K", bound=Hashable)

MAX_NAMED: Final = 3  # titles that one naming may mean: the parts of a series; more are in doubt
MAX_TITLE: Final = 300  # characters
MAX_QUESTION: Final = 1_000  # characters that are looked at
FEWEST: Final = 2  # words that say something, of a part of a title
MAX_CUES: Final = 8  # places where a question may name a source; the rest is not looked at
_REACH: Final = 24  # words behind a cue that may be a title


_ONLY: Final = re.compile(
    r"""\b(?:the|this|my|our|das|dem|diese[mns]?|der)\s+
    (?: (?P<document>(?:text)?book|pdf|paper|document|buch|lehrbuch|dokument) | (?P<recording>video|talk|lecture|recording|vortrag|vorlesung|aufnahme) )\b
    (?! \s+ (?:on|about|of|by|with|from|titled|called|named|that|which|where|über|von|mit)\b (?! \W* $ ) | \s+["“„«] | [-–] )""",
    re.VERBOSE | re.IGNORECASE,
)


class Clue(NamedTuple):
    """Words that a title has to have together to be named, or is made of."""

    words: tuple[str, ...]
    is_whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedSource(Generic[K]):
    """The sources that are named, by their keys, and what is asked of them: the question without their names."""

    keys: frozenset[K]
    question: str


def named(question: str, titles: Sequence[tuple[K, str]]) -> NamedSource[K]:
    """Find the sources that a question names by their titles, whole or a part of at least ``FEWEST`` words that say something.

    Sources with the same title all count. No keys, and the question as it is, where none is named or it is in doubt which.
    """
    cues = _cues(question)
    known = (
        [(key, title[:MAX_TITLE].strip(), _tokens(title)) for key, title in titles] if cues else []
    )
    for cue in cues:
        fits = [
            (fit, key, title.casefold())
            for key, title, words in known
            if (fit := _fit(cue, words, title))
        ]
        best = max(((fit.length, fit.is_whole) for fit, _, _ in fits), default=None)
        chosen = [
            (fit, key, title) for fit, key, title in fits if (fit.length, fit.is_whole) == best
        ]
        if chosen and len({title for _, _, title in chosen}) <= (MAX_NAMED if cue.is_plain else 1):
            return NamedSource(
                keys=frozenset(key for _, key, _ in chosen),
                question=_without(question, cue, chosen[0][0]),
            )
    return NamedSource(keys=frozenset(), question=question)


def kind(question: str) -> str:
    """Return what a question calls the only source that it can mean: "document" or "recording"; nothing where it calls none so, or says which it means."""
    found = _ONLY.search(question[:MAX_QUESTION])
    return "" if found is None else "document" if found["document"] else "recording"


def clues(question: str) -> list[Clue]:
    """Return what a title has to have to be named, for each place where a question may name one; none: it names nothing."""
    return list(dict.fromkeys(clue for cue in _cues(question) for clue in _clues(cue)))


# Where a title may stand


class _Word(NamedTuple):
    text: str
    start: int
    end: int


class _Cue(NamedTuple):
    """A place where a title may stand: its words, where the naming begins, and how sure it is that a source is meant."""

    words: tuple[_Word, ...]
    start: int
    end: int  # of the naming, where its words are not what ends it; 0: they are
    kind: bool  # a word for a kind of source stands with it
    quoted: bool = False
    backwards: bool = False  # the title ends here, as in “the gradient descent lecture”
    placed: bool = False  # “in”, “from” or “according to” stands before it
    is_number: bool = False  # “lecture 4”
    source: str = ""
    article: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether it may mean several sources: “the lectures on gradient descent”."""
        return self.kind and not self.is_number


_KIND: Final = (
    r"(?:(?:video|lecture|talk|course|document|paper|(?:text)?book|article|recording|interview|podcast|episode|presentation|keynote|speech|seminar|webinar|series"
    r"|tutorial|report|thesis|meeting|session|novel|essay|pdf|documentary|film|transcript)s?"
    r"|vorlesung|vortrags?|buch(?:es)?|artikel|aufsatz|sitzung|dokument|gespräch|vidéo|livre|conférence|cours|réunion|vídeo|libro|charla|clase|conferencia|reunión)"
)
_THE: Final = r"(?:the|this|that|his|her|their|my|our|your|der|die|das|dem|den|des|diesem|dieser|le|la|les|cette|ce|el|los|las|esta?e?)"
_PLACE: Final = (
    r"(?:according\s+to|in|from|within|laut|im|in\s+der|aus|selon|d['’]après|dans|según|en)"
)
_CALLED: Final = r"(?:called|titled|entitled|named|on|about|with\s+the\s+title|over|namens|mit\s+dem\s+titel|über|zu|zum|zur|sur|intitulée?|sobre|titulad[oa]|de|del|von|of)"
_OPEN: Final = "\"“”„«‘'‹"
_CLOSE: Final = "\"“”»’'›"
_QUOTED: Final = re.compile(
    rf"""
    (?P<place>\b{_PLACE}\s+)? (?:(?P<the>\b{_THE})\s+)? (?:(?P<kind>\b{_KIND})\s+(?:{_CALLED}\s+)?)?
    (?: "(?P<a>[^"]{{2,300}})" | [“„](?P<b>[^“”„]{{2,300}})[“”] | «\s?(?P<c>[^«»]{{2,300}}?)\s?» | (?<![\w])[‘'](?P<d>[^‘’']{{2,300}})[’'](?!\w) )
    (?P<says>\s+(?:say|says|tell|tells|cover|covers|mention|mentions|explain|explains|argue|argues|describe|describes|discuss|discusses)\b)?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BEFORE: Final = re.compile(
    rf"(?:(?P<place>\b{_PLACE})\s+)?\b(?P<the>{_THE})\s+(?:\w+\s+)?(?P<kind>{_KIND})\s*[,:]?\s+(?:{_CALLED}\s+)?(?:(?:the|an?)\s+(?={_THE}?))?(?=\w)",
    re.IGNORECASE,
)
_AFTER: Final = re.compile(
    rf"(?:(?P<place>\b{_PLACE})\s+)?\b(?P<the>{_THE})\s+(?P<title>(?:[\w'’:.&+-]+,?\s+){{2,12}}?)(?P<kind>{_KIND})\b(?!['’-]\w)",
    re.IGNORECASE,
)
_PLACED: Final = re.compile(rf"(?<!\w)(?P<place>{_PLACE})\s+(?:the\s+)?(?=\w)", re.IGNORECASE)
_NUMBERED: Final = re.compile(
    rf"(?:(?P<place>\b{_PLACE})\s+)?(?:the\s+)?\b(?P<title>{_KIND}\s+(?:no\.?\s*|number\s+|#)?(?P<number>\d{{1,4}}))\b(?!\s+(?:of|from|in)\b)",
    re.IGNORECASE,
)


def _cues(question: str) -> list[_Cue]:
    """Return the places where a title may stand, the surest first."""
    text = question[:MAX_QUESTION]
    ways = (_in_quotes, _behind_kinds, _before_kinds, _numbered, _behind_places)
    return [cue for way in ways for cue in islice(way(text), MAX_CUES) if cue.words]


def _in_quotes(question: str) -> Iterator[_Cue]:
    for found in _QUOTED.finditer(question):
        group = next(name for name in "abcd" if found[name])
        if found["kind"] or found["place"] or found["says"]:
            words = _located(question, *found.span(group))
            end = found.start("says") if found["says"] else found.end()
            yield _Cue(
                words,
                found.start(),
                end,
                kind=bool(found["kind"]),
                quoted=True,
                placed=bool(found["place"]),
                source=question,
                article=found["the"] or "",
            )


def _behind_kinds(question: str) -> Iterator[_Cue]:
    for found in _BEFORE.finditer(question):
        words = _located(question, found.end(), len(question))[:_REACH]
        yield _Cue(
            words,
            found.start(),
            0,
            kind=True,
            placed=bool(found["place"]),
            source=question,
            article=found["the"] or "",
        )


def _before_kinds(question: str) -> Iterator[_Cue]:
    for found in _AFTER.finditer(question):
        words = _located(question, *found.span("title"))
        yield _Cue(
            words,
            found.start(),
            found.end(),
            kind=True,
            backwards=True,
            placed=bool(found["place"]),
            source=question,
            article=found["the"] or "",
        )


def _numbered(question: str) -> Iterator[_Cue]:
    for found in _NUMBERED.finditer(question):
        words = tuple(
            word
            for word in _located(question, *found.span("title"))
            if word.text not in ("no", "number")
        )
        yield _Cue(
            words,
            found.start(),
            found.end(),
            kind=True,
            placed=bool(found["place"]),
            is_number=True,
            source=question,
        )


def _behind_places(question: str) -> Iterator[_Cue]:
    for found in _PLACED.finditer(question):
        yield _Cue(
            _located(question, found.end(), len(question))[:_REACH],
            found.start(),
            0,
            kind=False,
            placed=True,
            source=question,
        )


# Whether it stands there


class _Fit(NamedTuple):
    """How many words of a title stand at a cue, and where in the question they begin and end."""

    length: int
    start: int
    end: int
    is_whole: bool = False  # it is all of the title


_ENDS: Final = re.compile(  # what may follow on the name of a source, or on a part of its title
    r"""
    \s*(?: $ | ["”»’]?\s*[,;:?.!)]
      | (?:say|says|said|tell|tells|cover|covers|mention|mentions|explain|explains|argue|argues|claim|claims|describe|describes|discuss|discusses|teach|teaches
        |define|defines|about|is|was|does|do|did|has|what|who|how|why|when|where|which|sagt|sagen|ist|wird|erklärt|dit|parle|dice|habla)\b )
    """,
    re.VERBOSE | re.IGNORECASE,
)


def _fit(cue: _Cue, title: Sequence[str], written: str) -> _Fit | None:
    """Return how a title stands at a cue; None where it does not, or it may be chance."""
    if not title or not cue.words:
        return None
    if cue.is_number:
        is_one = _has_run(title, [word.text for word in cue.words]) and _ENDS.match(
            cue.source, cue.end
        )
        return _Fit(len(cue.words), cue.words[0].start, cue.words[-1].end) if is_one else None
    asked = [word.text for word in cue.words]
    length = _run(asked[::-1], list(title)[::-1]) if cue.backwards else _run(asked, title)
    fit = _placed(cue, length)._replace(is_whole=length == len(title))
    if not length or (cue.quoted and length < len(asked)):
        return None
    return (
        fit
        if _is_sure(
            cue,
            fit,
            asked[-length:] if cue.backwards else asked[:length],
            whole=fit.is_whole,
            written=written,
        )
        else None
    )


def _is_sure(cue: _Cue, fit: _Fit, words: Sequence[str], *, whole: bool, written: str) -> bool:
    """Say whether what stands at a cue is a title, and no subject that has one's words."""
    telling = sum(map(_tells, words))
    if cue.quoted:
        return (whole and cue.kind) or (telling >= FEWEST and (whole or cue.kind))
    if cue.kind:
        if whole and telling == 1:
            return (
                not cue.backwards
                and _stands(cue, fit, written)
                and written[:1].isupper()
                and len(written) >= _SHORTEST
            )
        return telling >= FEWEST and (
            whole or cue.backwards or bool(_ENDS.match(cue.source, fit.end))
        )
    is_title = _stands(cue, fit, written) or any(map(_KINDS.fullmatch, words))
    return (
        whole
        and len(words) > FEWEST
        and telling >= FEWEST
        and is_title
        and bool(_ENDS.match(cue.source, fit.end))
    )


def _stands(cue: _Cue, fit: _Fit, written: str) -> bool:
    """Say whether a title stands in the question with its own capitals and signs."""
    return cue.source.startswith(written.rstrip("?!. "), fit.start)


def _run(asked: Sequence[str], title: Sequence[str]) -> int:
    """Return how many words of ``asked``, from its first on, stand side by side in a title: the most there are."""
    most = 0
    for start in (place for place, word in enumerate(title) if asked and word == asked[0]):
        length = 0
        for one, other in zip(asked, title[start:], strict=False):
            if one != other:
                break
            length += 1
        most = max(most, length)
    return most


def _has_run(title: Sequence[str], words: Sequence[str]) -> bool:
    return any(
        list(title[place : place + len(words)]) == list(words) for place in range(len(title))
    )


def _placed(cue: _Cue, length: int) -> _Fit:
    words = cue.words[-length:] if cue.backwards else cue.words[:length]
    return _Fit(length, words[0].start, words[-1].end) if words else _Fit(0, 0, 0)


# Words


_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?")


def _located(text: str, start: int, end: int) -> tuple[_Word, ...]:
    """Return the words of a stretch of a text, as ``_tokens`` writes them, and where they are."""
    return tuple(
        _Word(token, *found.span())
        for found in _WORD.finditer(text, start, end)
        for token in [_token(found[0])]
        if token
    )


def _tokens(title: str) -> list[str]:
    return [token for word in _WORD.findall(title) if (token := _token(word))]


def _token(word: str) -> str:
    return "".join(tokenize(word.replace("’", "'"), shortest=1))


def _tells(word: str) -> bool:
    return (
        len(word) > 1
        and word not in _COMMON
        and bool(content(word) or word in _ENGLISH)
        and not word.isdecimal()
        and not _KINDS.fullmatch(word)
    )


_SHORTEST: Final = 4  # characters of a title of one word
_KINDS: Final = re.compile(_KIND, re.IGNORECASE)
_COMMON: Final = frozenset(
    (
        "introduction",
        "intro",
        "overview",
        "part",
        "chapter",
        "welcome",
        "summary",
        "conclusion",
        "recap",
        "class",
        "week",
        "day",
        "unit",
        "module",
        "lesson",
    )
)
_ENGLISH: Final = frozenset(("war", "son"))  # words that say nothing only in other languages


def _clues(cue: _Cue) -> Iterator[Clue]:
    if cue.is_number:
        yield Clue(tuple(word.text for word in cue.words))
        return
    telling = [
        word.text
        for word in (reversed(cue.words) if cue.backwards else cue.words)
        if _tells(word.text)
    ]
    if len(telling) >= FEWEST:
        yield Clue(tuple(telling[:FEWEST]))
    if cue.kind and not cue.backwards:
        yield Clue(
            tuple(word.text for word in cue.words) if cue.quoted else (cue.words[0].text,),
            is_whole=not cue.quoted,
        )


# What is asked


_IT: Final = (
    ("es", r"der|die|das|dem|den|des|diesem|dieser"),
    ("cela", r"le|la|les|cette|ce"),
    ("esto", r"el|los|las|esta?e?"),
)


def _without(question: str, cue: _Cue, fit: _Fit) -> str:
    """Return a question without the naming: left out where it says where to look, “it” in its place where the question is about the source itself."""
    before, behind = (
        question[: cue.start].rstrip(" ,"),
        question[cue.end or fit.end :].lstrip("\"”»’' "),
    )
    middle = (
        ""
        if cue.placed
        else next(
            (it for it, articles in _IT if re.fullmatch(articles, cue.article, re.IGNORECASE)), "it"
        )
    )
    behind = behind.lstrip(",:; ") if cue.placed else behind
    text = " ".join(f"{before} {middle}{'' if behind[:1] in '?.,!;:' else ' '}{behind}".split())
    text = f"{before}{behind}" if not middle and behind in ("?", ".", "!") else text
    is_left = bool(content(text)) or (bool(middle) and len(tokenize(text)) > 1)
    return text[:1].upper() + text[1:] if is_left else question
