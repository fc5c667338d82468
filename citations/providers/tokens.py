"""Counts and truncates tokens of all-MiniLM-L6-v2, whose vocabulary most BERT models share."""

from functools import lru_cache
from typing import Any, Final

from citations.errors import ModelError
from citations.providers import weights
from citations.providers.openvino_encoder import replace_surrogates, tokenizer

TOKEN_LENGTH: Final = 2  # characters of a token, a low estimate without the tokenizer


def count(text: str) -> int:
    """Return the number of tokens, without special ones."""
    counter = _tokenizer()
    return (
        len(counter.encode(replace_surrogates(text), add_special_tokens=False).ids)
        if counter
        else len(text) // TOKEN_LENGTH
    )


def keep_end(text: str, *, most: int) -> str:
    """Truncate a text from the left to at most ``most`` tokens, at a word."""
    counter = _tokenizer()
    if counter is None:
        return _from_word(text, len(text) - most * TOKEN_LENGTH)
    offsets = counter.encode(replace_surrogates(text), add_special_tokens=False).offsets
    return (
        text
        if len(offsets) <= most
        else _from_word(text, offsets[-most][0] if most > 0 else len(text))
    )


def _from_word(text: str, at: int) -> str:
    if at <= 0:
        return text
    if at >= len(text) or text[at - 1].isspace():
        return text[at:]
    space = text.find(" ", at)
    return text[space + 1 :] if space >= 0 else text[at:]


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    try:
        return tokenizer(weights.find(weights.MINILM))
    except ModelError:
        return None
