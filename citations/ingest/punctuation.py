"""Puts full stops into English captions that have none, before a recording is split."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np

from citations import conf
from citations.errors import ModelMissing
from citations.ingest import discovery
from citations.models import Source
from citations.providers.punctuation import MARKS, Numbers, Punctuator
from citations.text import sentence_ends, sentences
from citations.text.punctuation import SpokenWord, spoken_words, with_marks
from transcripts import captions, storage
from transcripts.cues import Cue
from transcripts.reading import full_text

FEWEST: Final = 100  # words of a speech that is judged
LIKELY: Final = 0.4  # probability of an end from which a mark is put

Progress = Callable[[int, int], object]
"""Called with the words that are read and their number."""


def add(source: Source, progress: Progress) -> None:
    """Add full stops and question marks to the transcript of a recording in English without them.

    Does nothing if the model is missing.
    """
    transcript = source.transcript
    if transcript is None or transcript.has_added_stops or not conf.adds_full_stops():
        return
    cues = captions.from_json(transcript.cues, word_times=transcript.word_times or None)
    if not lacks_stops(full_text(cues)):
        return
    try:
        marked = _marked(cues, Punctuator(), progress)
    except ModelMissing:
        return
    if storage.add_marks(transcript, marked):
        discovery.accept(source)


def lacks_stops(text: str) -> bool:
    """Tell whether a text is English speech without full stops."""
    spans = sentences.split(text)
    return (
        text.count(" ") >= FEWEST
        and not sentences.is_punctuated(text[first:last] for first, last in spans)
        and bool(sentence_ends.log_odds(text, 0, len(text)))
    )


def _marked(cues: Sequence[Cue], model: Punctuator, progress: Progress) -> list[Cue]:
    words = list(spoken_words(cues))
    rows: list[Numbers] = []
    for part in model.probabilities([word.text for word in words]):
        rows.append(part)
        progress(sum(map(len, rows)), len(words))
    return with_marks(cues, words, list(_marks(words, np.concatenate(rows))))


def _marks(words: Sequence[SpokenWord], probabilities: Numbers) -> Iterator[str]:
    stop, question = MARKS.index("."), MARKS.index("?")
    for word, row in zip(words, probabilities, strict=True):
        is_end = row[stop] + row[question] >= LIKELY and word.is_free
        yield ("?" if row[question] > row[stop] else ".") if is_end else ""
