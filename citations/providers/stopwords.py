"""Stop words: scikit-learn's for English, which KeyBERT uses, and stopwordsiso's for 57 languages.

The English list is a copy, as importing scikit-learn takes seconds and 90 MB. stopwordsiso's list
is no substitute: its 1,298 words include "computer", "order" and "value".
"""

from functools import lru_cache
from pathlib import Path

from citations.providers.languages import primary_language

_ENGLISH = Path(__file__).with_name("stop_words_en.txt")


@lru_cache(maxsize=64)
def stop_words(language: str) -> frozenset[str]:
    """Return the stop words of a language tag ("en", "pt-BR") in lower case, none if unknown.

    An empty tag means English.
    """
    code = primary_language(language) or "en"
    if code == "en":
        return frozenset(_ENGLISH.read_text().split())
    from stopwordsiso import stopwords

    return frozenset(stopwords(code))
