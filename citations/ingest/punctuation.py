"""Puts full stops into English captions that have few or none, before a recording is split."""

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np

from citations import conf
from citations.errors import ModelError, ModelMissing
from citations.models import Source
from citations.providers.punctuation import MARKS, Numbers, Punctuator
from citations.text import sentences
from citations.text.punctuation import SpokenWord, punctuated, spoken_words
from transcripts import captions
from transcripts.adding import transcript_rows
from transcripts.text.cues import Cue
from transcripts.text.reading import full_text

LIKELY: Final = 0.4  # probability of an end from which a mark is put
MIN_WORDS, MAX_WORDS = 100, 1_000_000  # words of a speech; three days have fewer
SAMPLES: Final = 5  # of a text, by which it is judged
SAMPLE: Final = 4_000  # characters of each

logger = logging.getLogger(__name__)


def add(source: Source, pause: Callable[[], object]) -> None:
    """Add full stops and question marks to the transcript of a recording in English without them.

    Calls ``pause`` between batches. Without the model, or if it fails, the transcript stays as it
    is: everything else works without them.
    """
    transcript = source.transcript
    if transcript is None or transcript.has_added_stops or not conf.adds_full_stops():
        return
    cues = captions.from_json(transcript.cues, word_times=transcript.word_times or None)
    if not lacks_stops(full_text(cues)):
        return
    source.change(step="adding full stops", done=0, total=0)
    try:
        transcript_rows.add_full_stops(transcript, _punctuated(cues, Punctuator(), pause))
    except ModelMissing:
        return
    except ModelError as error:
        logger.warning("No full stops were added: %s %s", error.message, error.hint)


def lacks_stops(text: str) -> bool:
    """Tell whether a text is English speech with few full stops or none, by samples of it."""
    if not MIN_WORDS <= text.count(" ") <= MAX_WORDS:
        return False
    count = min(SAMPLES, max(1, len(text) // SAMPLE))
    starts = [number * len(text) // count for number in range(count)]
    return all(_lacks_stops(text[first : first + SAMPLE]) for first in starts)


def _lacks_stops(text: str) -> bool:
    is_stopped = sentences.is_punctuated(text[first:last] for first, last in sentences.split(text))
    return not is_stopped and bool(sentences.log_odds_of_ends(text, 0, len(text)))


def _punctuated(cues: Sequence[Cue], model: Punctuator, pause: Callable[[], object]) -> list[Cue]:
    words = list(spoken_words(cues))
    rows: list[Numbers] = []
    for part in model.probabilities([word.text for word in words]):
        rows.append(part)
        pause()
    return punctuated(cues, words, list(_marks(words, np.concatenate(rows))))


def _marks(words: Sequence[SpokenWord], probabilities: Numbers) -> Iterator[str]:
    stop, question = MARKS.index("."), MARKS.index("?")
    for word, row in zip(words, probabilities, strict=True):
        is_end = row[stop] + row[question] >= LIKELY and word.is_free
        yield ("?" if row[question] > row[stop] else ".") if is_end else ""
