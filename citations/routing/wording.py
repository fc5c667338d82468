"""The words of a question that say what it is about."""

from typing import Final

from transcripts.words import tokenize

MAX_RULED: Final = 1_000  # characters of a part whose wording is looked at


def content(text: str) -> list[str]:
    """Return the words that say what a text is about."""
    return [word for word in tokenize(text) if word not in _EMPTY]


def _words(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


_EMPTY: Final = _words(
    "and or the of to in on at by for from with about as is are was were be been do does did done can could should would will has have had it its they them",
    "their this that these those he she him his her we our you your me my mine what which who whom whose how why when where there here then than so also",
    "too not no yes if but any some tell show give explain describe please say said says mean means used use work works happen happens",
    "und oder der die das den dem ein eine einen ist sind war wie was wer wo wann warum es sie er wird werden",
    "et ou le la les un une des du de est sont que qui quoi comment pourquoi il elle",
    "el los las una es son qué cómo por para",
)
