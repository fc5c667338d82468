"""Recognisers' JSON in its dialects, by its structure."""

import json
from typing import Any

import pytest

from transcripts.captions import parse
from transcripts.text.cues import Cue

WORDS = [
    ("It", 0.1, 0.3),
    ("rains.", 0.4, 0.9),
    ("So", 2.0, 2.2),
    ("we", 2.3, 2.4),
    ("stay.", 2.5, 3.0),
]
SAID = [("It rains.", 0.1, 0.9, WORDS[:2]), ("So we stay.", 2.0, 3.0, WORDS[2:])]
CUES = [(100, 900, "It rains."), (2000, 3000, "So we stay.")]


def cues(content: object) -> tuple[Cue, ...]:
    return parse(json.dumps(content).encode(), name="a.json").cues


def rows(content: object) -> list[tuple[int, int, str]]:
    return [(cue.start, cue.end, cue.text) for cue in cues(content)]


def ms(seconds: float) -> int:
    return round(seconds * 1000)


def element(word: str, start: float, end: float) -> list[dict[str, Any]]:
    """Return a word and its full stop, as several recognisers tell them apart."""
    bare = word.rstrip(".")
    named = {"start_time": str(start), "end_time": str(end)}
    row = {**named, "alternatives": [{"content": bare}], "type": "pronunciation"}
    return [row, {"alternatives": [{"content": "."}]}] if bare != word else [row]


PASSAGES: dict[str, Any] = {
    "seconds": [{"start": s, "end": e, "text": text} for text, s, e, _ in SAID],
    "milliseconds": [{"start": ms(s), "end": ms(e), "text": text} for text, s, e, _ in SAID],
    "clock": [
        {"startTime": "00:00:00.100", "endTime": "00:00:00,900", "body": "It rains."},
        {"startTime": "00:00:02", "endTime": "0:03", "body": "So we stay."},
    ],
    "length": [{"offset": ms(s), "duration": ms(e - s), "text": text} for text, s, e, _ in SAID],
    "ticks": [
        {"Offset": s * 1e7, "Duration": (e - s) * 1e7, "NBest": [{"Display": text}]}
        for text, s, e, _ in SAID
    ],
    "durations": {
        "phrases": [
            {"offset": f"PT{s}S", "duration": f"PT{e - s:.1f}S", "text": text}
            for text, s, e, _ in SAID
        ]
    },
    "pairs": {"text": "x", "chunks": [{"timestamp": [s, e], "text": t} for t, s, e, _ in SAID]},
    "strings": [{"text": text, "start": str(s), "dur": f"{e - s:.1f}"} for text, s, e, _ in SAID],
}
WITH_WORDS: dict[str, Any] = {
    "nested": {
        "text": "It rains. So we stay.",
        "segments": [
            {
                "start": s,
                "end": e,
                "text": f" {text}",
                "words": [{"word": f" {w}", "start": a, "end": b} for w, a, b in words],
            }
            for text, s, e, words in SAID
        ],
    },
    "beside": {
        "segments": [{"start": s, "end": e, "text": text} for text, s, e, _ in SAID],
        "words": [{"word": w, "start": a, "end": b} for w, a, b in WORDS],
    },
    "parts of words": {
        "transcription": [
            {
                "timestamps": {"from": f"00:00:0{s}00", "to": f"00:00:0{e}00"},
                "text": f" {text}",
                "tokens": [
                    {"text": part, "timestamps": {"from": f"00:00:0{a}00", "to": "00:00:09,000"}}
                    for w, a, _ in words
                    for part in (f" {w[:1]}", w[1:])
                ],
            }
            for text, s, e, words in SAID
        ]
    },
    "alternatives": {
        "results": [
            {
                "alternatives": [
                    {
                        "transcript": text,
                        "words": [
                            {"startTime": f"{a}s", "endTime": f"{b}s", "word": w}
                            for w, a, b in words
                        ],
                    },
                    {"transcript": "something else"},
                ]
            }
            for text, _, _, words in SAID
        ]
    },
    "words only": {
        "results": {
            "channels": [
                {
                    "alternatives": [
                        {
                            "words": [
                                {"word": "x", "punctuated_word": w, "start": a, "end": b}
                                for w, a, b in WORDS
                            ]
                        }
                    ]
                }
            ]
        }
    },
    "marks without times": {"items": [row for word in WORDS for row in element(*word)]},
}


@pytest.mark.parametrize("dialect", PASSAGES)
def test_rows_are_passages_whatever_their_times_are_called(dialect: str) -> None:
    assert rows(PASSAGES[dialect]) == CUES


@pytest.mark.parametrize("dialect", WITH_WORDS)
def test_words_keep_their_times(dialect: str) -> None:
    assert rows(WITH_WORDS[dialect]) == CUES
    times = [word.start for cue in cues(WITH_WORDS[dialect]) for word in cue.words]
    assert times == [ms(start) for _, start, _ in WORDS]


def test_who_speaks_is_told_by_the_row_around_it_or_by_a_list() -> None:
    monologues = [
        {
            "speaker": number,
            "elements": [
                element_
                for word, start, end in words
                for element_ in (
                    {"value": word.rstrip("."), "ts": start, "end_ts": end},
                    {"value": ". " if word.endswith(".") else " "},
                )
            ],
        }
        for number, (*_, words) in enumerate(SAID)
    ]
    named = {"monologues": monologues, "speakers": [{"id": 0, "name": "Ada Lee"}]}
    assert [text for *_, text in rows(named)] == ["Ada Lee: It rains.", "Speaker 1: So we stay."]
    labelled = [
        {"start": s, "end": e, "text": text, "speaker": f"SPEAKER_0{number}"}
        for number, (text, s, e, _) in enumerate(SAID)
    ]
    assert [text for *_, text in rows(labelled)] == [
        "Speaker 0: It rains.",
        "Speaker 1: So we stay.",
    ]


def test_the_list_with_speakers_wins_over_one_without() -> None:
    content = {
        "segments": [{"start": s, "end": e, "text": text} for text, s, e, _ in SAID],
        "words": [{"word": w, "start": a, "end": b, "speaker": int(a >= 2)} for w, a, b in WORDS],
    }
    assert [text for *_, text in rows(content)] == [
        "Speaker 0: It rains.",
        "Speaker 1: So we stay.",
    ]


def test_the_language_is_told() -> None:
    for content in (
        {"language": "en", "segments": PASSAGES["seconds"]},
        {"result": {"language": "en"}, "transcription": PASSAGES["seconds"]},
        {"language_code": "en_US", "segments": PASSAGES["seconds"]},
    ):
        assert parse(json.dumps(content).encode()).language[:2] == "en"


def test_values_that_follow_one_another_are_one_transcript() -> None:
    lines = "\n".join(
        json.dumps({"text": text, "result": [{"word": w, "start": a, "end": b} for w, a, b in ws]})
        for text, _, _, ws in SAID
    )
    assert [cue.text for cue in parse(lines.encode()).cues] == ["It rains.", "So we stay."]


def test_rows_without_times_are_counted_and_told() -> None:
    content = [*PASSAGES["seconds"], {"start": None, "end": None, "text": "lost"}]
    captions = parse(json.dumps(content).encode())
    assert len(captions.cues) == 2
    assert "“lost”" in captions.warnings[0].message
