"""How well the base model hears made speech: words, times, pace and memory, with the figures that
``bench/RESULTS.md`` gives. ``python -m tests.speech.test_accuracy`` prints them.
"""

import re
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from rapidfuzz.distance import Levenshtein, Opcode

from citations.readers.speech import decoder, whisper
from tests.programs import require_program, run_program
from tests.speech.speaker import require_whisper, speak

PAUSE: Final = 0.4  # seconds between two sentences
ENGLISH: Final = (
    "Anybody who has typed two words into a search box has set a ranking problem.",
    "There is a pile of texts, usually a large one, and there is a question, usually a short one.",
    "The machine is asked to put the pile in order, so that the best text lies on top.",
    "It has a fraction of a second for this, and it does not understand a word.",
    "A word that few texts contain separates the texts better than a word that all of them have.",
    "A long text holds more of everything, so its counts have to be taken with a grain of salt.",
    "Each observation becomes a factor in a formula, and the next section multiplies them.",
    "The first mention of a word raises our expectation a great deal, the second a little.",
    "A good measure should therefore rise steeply at first and then level off.",
    "Every morning the baker opens the door and sets the warm bread on the wooden table.",
    "The train to the coast leaves at seven, and the journey takes about three hours.",
    "Children learn to count long before they learn to write the numbers down.",
)
GERMAN: Final = (
    "Jeden Morgen öffnet der Bäcker die Tür und legt das warme Brot auf den Tisch.",
    "Der Zug an die Küste fährt um sieben Uhr ab, und die Reise dauert etwa drei Stunden.",
    "Kinder lernen zählen, lange bevor sie die Zahlen schreiben können.",
    "Eine gute Bibliothek stellt jedes Buch dorthin, wo die Leute es finden.",
    "Das Wetter wird am Wochenende kälter, und im Norden fällt der erste Schnee.",
    "Wer eine Frage stellt, möchte eine kurze und richtige Antwort bekommen.",
)
FRENCH: Final = (
    "Chaque matin, le boulanger ouvre la porte et pose le pain chaud sur la table.",
    "Le train pour la côte part à sept heures, et le voyage dure environ trois heures.",
    "Les enfants apprennent à compter longtemps avant de savoir écrire les nombres.",
    "Une bonne bibliothèque range chaque livre là où les gens peuvent le trouver.",
    "Le temps sera plus froid ce week-end, et la première neige tombera dans le nord.",
    "Celui qui pose une question veut une réponse courte et juste.",
)


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Shares of words that are wrong (as jiwer counts them), and of sentences whose first word, if
    right, is heard within .3 s of its time; seconds of work for a second of speech; its seconds.
    """

    errors: float
    on_time: float
    pace: float
    seconds: float

    def __str__(self) -> str:
        return (
            f"{100 * self.errors:.1f} % of words wrong, {100 * self.on_time:.0f} % of sentences"
            f" within .3 s, {self.pace:.2f} of real time, {self.seconds:.0f} s of speech"
        )


def words_of(text: str) -> list[str]:
    return re.sub(r"[^\w' ]", " ", text.lower()).split()


def spoken(folder: Path, sentences: tuple[str, ...], voice: str) -> tuple[Path, list[float]]:
    """Speak sentences with pauses; return the file, and when each begins (seconds)."""
    sox, parts, starts, at = require_program("sox"), [], [], 0.0
    for number, sentence in enumerate(sentences):
        part, trimmed = folder / f"{number}.wav", folder / f"{number}-.wav"
        speak(sentence, part, voice=voice)
        run_program(sox, part, trimmed, "silence", "1", "0", "1%", "pad", "0", str(PAUSE))
        starts.append(at)
        at += float(run_program("soxi", "-D", trimmed).stdout)
        parts.append(trimmed)
    whole = folder / "whole.wav"
    run_program(sox, *parts, whole)
    return whole, starts


def _block(opcode: Opcode) -> tuple[str, int, int, int, int]:
    places = opcode.src_start, opcode.src_end, opcode.dest_start, opcode.dest_end
    return (opcode.tag, *places)


def measure(
    model: Path, folder: Path, sentences: tuple[str, ...], voice: str, language: str = ""
) -> Accuracy:
    path, starts = spoken(folder, sentences, voice)
    heard, begun, at, is_last = list[tuple[float, str]](), time.monotonic(), 0, False
    while not is_last:
        part = decoder.part_at(path, at)
        _, segments = whisper.hear(part.samples, model=model, threads=2, language=language)
        heard += [
            ((part.start + word[0]) / 1000, text)
            for segment in segments
            for word in segment["words"]
            for text in words_of(word[2])
        ]
        at, is_last = part.end, part.is_last
    spent = time.monotonic() - begun
    expected = [
        (start if place == 0 else -1.0, word)
        for start, sentence in zip(starts, sentences, strict=True)
        for place, word in enumerate(words_of(sentence))
    ]
    texts = [word for _, word in expected], [word for _, word in heard]
    matches = Levenshtein.opcodes(*texts)
    late = [
        abs(expected[first + n][0] - heard[second + n][0])
        for kind, first, last, second, _ in map(_block, matches)
        if kind == "equal"
        for n in range(last - first)
        if expected[first + n][0] >= 0
    ]
    return Accuracy(
        errors=Levenshtein.distance(*texts) / len(expected),
        on_time=sum(each <= 0.3 for each in late) / len(late),
        pace=spent / (at / 1000),
        seconds=at / 1000,
    )


@pytest.mark.parametrize(
    ("sentences", "voice", "most"), [(ENGLISH, "en-us", 0.15), (GERMAN, "de", 0.4)]
)
def test_made_speech_is_heard(
    tmp_path: Path, sentences: tuple[str, ...], voice: str, most: float
) -> None:
    result = measure(require_whisper(tmp_path / "model"), tmp_path, sentences, voice)
    assert result.errors <= most, str(result)
    assert result.on_time >= 0.95, str(result)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        model = require_whisper(Path(name) / "model")
        for voice, sentences in (("en-us", ENGLISH), ("de", GERMAN), ("fr-fr", FRENCH)):
            folder = Path(name) / voice
            folder.mkdir()
            print(f"{voice}: {measure(model, folder, sentences, voice)}", flush=True)


if __name__ == "__main__":
    main()
