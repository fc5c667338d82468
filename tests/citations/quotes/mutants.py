"""True quotes of real texts, the same as people and machines write them down, and mutants of them
that say something else.
"""

import json
import random
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from pathlib import Path
from typing import Final

import transcripts
from citations.quotes.note_marks import INDEXED, RAISED_BASES
from transcripts.captions import parse

COLLECTIONS: Final = (
    "bitcoin",
    "ocw1801",
    "ocw6012",
    "nyudl",
    "nyudl_fr",
    "nyudl_pt",
    "hfcourse_fr",
    "hfcourse",
    "qmsum",
    "tutorialvqa",
)
LONGEST: Final = 60_000  # characters of a text
Texts = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Mutant:
    """What a quote was made into, how, and the text that it claims to be from."""

    how: str
    quote: str
    claimed: str


def sample_texts() -> dict[str, str]:
    """Return the texts of the sample talks."""
    names = sorted((Path(transcripts.__file__).parent / "sample").glob("*.vtt"))
    return {
        path.name: " ".join(cue.text for cue in parse(path.read_bytes(), name=path.name).cues)
        for path in names
    }


def real_texts(folder: Path) -> dict[str, str]:
    """Return a recording of each collection, as its captions are joined, and a part of a textbook
    with its formulas.
    """
    texts = {}
    for collection in COLLECTIONS:
        for path in sorted((folder / "dev" / "transcripts" / collection).glob("*.json"))[:1]:
            texts[path.stem] = " ".join(
                cue["text"] for cue in json.loads(path.read_text())["cues"]
            )[:LONGEST]
    texts["calculus"] = (folder / "shared" / "documents" / "openstax-calculus-1.md").read_text()[
        400_000 : 400_000 + LONGEST
    ]
    return texts


def true_quotes(texts: Texts, *, count: int, seed: int = 1) -> Iterator[tuple[str, str]]:
    """Yield so many (text's name, quote of 6 to 30 of its words)."""
    chance = random.Random(seed)
    words = {name: list(re.finditer(r"\S+", text)) for name, text in texts.items()}
    for number in range(count):
        name = sorted(texts)[number % len(texts)]
        length = chance.randint(6, 30)
        first = chance.randrange(len(words[name]) - length)
        yield name, texts[name][words[name][first].start() : words[name][first + length - 1].end()]


# The same, written otherwise


def noisy(quote: str, chance: random.Random) -> str:
    """Write a quote down as somebody else would: one to three of the ways there are."""
    for change in chance.sample(NOISE, chance.randint(1, 3)):
        quote = change(quote, chance)
    return quote


def _spaced(quote: str, chance: random.Random) -> str:
    return re.sub(
        r"\s+", lambda _: chance.choice([" ", "  ", "\n", "\u00a0", " \t", "\r\n"]), quote
    )


def _filled(quote: str, chance: random.Random) -> str:
    words = quote.split(" ")
    words.insert(
        chance.randint(1, len(words)),
        chance.choice(["uh,", "[Music]", "[ Applause ]", "♪", "Uhm,", "(laughter)"]),
    )
    return " ".join(words)


def _hyphenated(quote: str, chance: random.Random) -> str:
    long = list(re.finditer(r"(?<!\[)(?<!\[ )\b[^\W\d_]{8,}", quote))
    if not long:
        return quote
    match = chance.choice(long)
    return f"{quote[: match.start() + 4]}-\n{quote[match.start() + 4 :]}"


def _soft(quote: str, chance: random.Random) -> str:
    return re.sub(
        r"(?<=[^\W\d_]{3})(?=[^\W\d_]{3})",
        lambda _: chance.choice(["", "", "\u00ad", "\u200b", "\u2060"]),
        quote,
    )


NOISE: Final[Sequence[Callable[[str, random.Random], str]]] = (
    lambda quote, _: quote.upper() if "ß" not in quote else quote.lower(),
    lambda quote, _: quote.lower(),
    lambda quote, _: f"“{quote.rstrip('.,;:')}.”",
    lambda quote, _: f"… {quote} …",
    lambda quote, _: quote.replace("'", "’").replace('"', "“"),
    lambda quote, _: quote.replace("’", "'").replace(" - ", " – ").replace("—", "--"),
    lambda quote, _: unicodedata.normalize("NFD", quote),
    lambda quote, _: re.sub(r"(?<=[a-z])[,;](?= )", "", quote),
    lambda quote, _: f">> {quote}",
    _spaced,
    _filled,
    _hyphenated,
    _soft,
)


# The same, printed otherwise

_LIGATURES: Final = (("ffi", "ﬃ"), ("ff", "ﬀ"), ("fi", "ﬁ"), ("fl", "ﬂ"), ("st", "ﬆ"))
_ALIKE: Final = str.maketrans("aceopx", "асеорх")  # Cyrillic
_RAISED: Final = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_WORD: Final = re.compile(r"(?<![\w'’.])[a-z]{4,}(?![\w'’])")


def printed(text: str, chance: random.Random) -> str:
    """Print a text as books do: with counted marks of notes behind some words, ligatures, soft
    hyphens, and letters of another script within words.
    """
    notes = iter(range(1, 999))
    is_raised = chance.random() < 0.5

    def change(match: re.Match[str]) -> str:
        word = match[0]
        match chance.randrange(30):
            case 0 if word not in INDEXED | RAISED_BASES:
                number = str(next(notes))
                return word + (number.translate(_RAISED) if is_raised else f"[{number}]")
            case 1:
                return word + chance.choice("*†‡")
            case 2:
                return word[:2] + "\u00ad" + word[2:]
            case 3:
                return word[0] + word[1:].translate(_ALIKE)
        return word

    for letters, ligature in _LIGATURES:
        text = text.replace(letters, ligature) if chance.random() < 0.7 else text
    return _WORD.sub(change, text)


# Mutants

_NUMBER = re.compile(r"\d+")
_AUXILIARY = re.compile(
    r"\b(is|are|was|were|can|will|do|does|have|has|should|would|could|est|sont|é|são)\b",
    re.IGNORECASE,
)
_NEGATIVE = re.compile(r"\b(not|never|no|pas|não)\s+|(?<=[a-z])n['’]t\b", re.IGNORECASE)
_SIGN = re.compile(
    r"(?<=\d)\s?%|[$€£](?=\d)|(?<=[\w)])\s*[=<>+≤]\s*(?=[\w(])|(?<![\w)\s])[−-](?=\d)|[²³⁻¹]"
)


_PAIRS: Final = (
    "is was, are were, have had, will would, can could, must may, I you, he she, we they, my your, "
    "all some, more less, always never, before after, first last, and or, with without, up down, "
    "left right, million billion"
)
_OTHER: Final[dict[str, str]] = dict(
    way for pair in _PAIRS.split(", ") for way in permutations(pair.split())
)
# The first place of a pattern, and what it is replaced by.
_CHANGES: Final[Mapping[str, tuple[str, str | Callable[[re.Match[str]], str]]]] = {
    "another word of its kind": (rf"\b(?:{'|'.join(_OTHER)})\b", lambda word: _OTHER[word[0]]),
    "another name": (r"(?<=[a-z,] )[A-Z][a-z]{3,}", "Margarethe"),
    "another unit": (r"(?<=\d) ?(?:%|[a-z]+\b)", " parsecs"),
    "digits exchanged": (r"(\d)(?!\1)(\d)", r"\2\1"),
    "raised to a power": (r"\d\b(?![.,]\d)", r"\g<0>²"),
    "a digit behind a word": (r"\b[a-z]{4,}\b", r"\g<0>3"),
    "letters for others": (r"rn|cl|(?<=[a-z])l(?=[a-z])|(?<=[a-z])o(?=[a-z])", "0"),
    "plural": (r"\b[a-z]{4,}(?<!s)\b(?!['’])", r"\g<0>s"),
}


def mutants(name: str, quote: str, texts: Texts, chance: random.Random) -> Iterator[Mutant]:
    """Yield what can be made of a quote that its text does not say."""
    words = quote.split()
    vocabulary = [word for word in texts[name].split() if word.isalpha() and len(word) > 3]
    telling = [
        place
        for place in range(len(words) - 1)
        if _is_telling(words[place]) and _is_telling(words[place + 1])
    ] or [0]
    for how, made in (
        ("negated", _AUXILIARY.sub(r"\1 not", quote, count=1)),
        ("no longer negated", _NEGATIVE.sub("", quote, count=1)),
        (
            "number changed",
            _NUMBER.sub(
                lambda match: str(int(match.group()) + chance.choice([1, 10, 97])), quote, count=1
            ),
        ),
        ("sign lost", _SIGN.sub(" ", quote, count=1)),
        (
            "word swapped",
            " ".join(_with(words, chance.randrange(len(words)), chance.choice(vocabulary))),
        ),
        ("word left out", " ".join(_with(words, chance.choice(telling), ""))),
        ("words exchanged", " ".join(_exchanged(words, chance.choice(telling)))),
        ("tail invented", f"{quote} {' '.join(chance.choices(vocabulary, k=3))}"),
        ("halves stitched", _stitched(words, texts[name], chance, " ")),
        ("stitched with an ellipsis", _stitched(words, texts[name], chance, " … ")),
        *((how, re.sub(*change, quote, count=1)) for how, change in _CHANGES.items()),
    ):
        if made.split() != words:
            yield Mutant(how, made, name)
    yield Mutant(
        "other source", quote, chance.choice([other for other in sorted(texts) if other != name])
    )


def says(text: str, quote: str) -> bool:
    """Say in another way than the code under test whether a text has a quote's words side by side:
    some mutants are true by chance.
    """
    return _plain(quote) in _plain(text)


@lru_cache(maxsize=64)
def _plain(text: str) -> str:
    return f" {' '.join(_words(text))} "


def _words(text: str) -> list[str]:
    words = re.findall(
        r"[^\s.,;:!?\"“”«»()\[\]…。，]+(?:[.,:]\d+)*", text.lower().replace("’", "'")
    )
    return [word for word in words if word not in ("um", "uh")]


def _is_telling(word: str) -> bool:
    """Say whether something is said with a word; whoever leaves a dash or a filler out changes
    nothing.
    """
    return any(mark.isalnum() for mark in word) and word.strip(".,?!").lower() not in ("um", "uh")


def _with(words: Sequence[str], place: int, word: str) -> list[str]:
    return [*words[:place], *([word] if word else []), *words[place + 1 :]]


def _exchanged(words: Sequence[str], place: int) -> list[str]:
    return [*words[:place], words[place + 1], words[place], *words[place + 2 :]]


def _stitched(words: Sequence[str], text: str, chance: random.Random, between: str) -> str:
    others = text.split()
    place, half = chance.randrange(len(others) - len(words)), len(words) // 2
    return f"{' '.join(words[:half])}{between}{' '.join(others[place : place + len(words) - half])}"
