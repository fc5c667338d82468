"""Timed text in tables."""

import pytest

from transcripts.captions import parse

ROWS = "00:00:03{0};00:00:08{1};Ada Lee;Yes.\n00:00:09{0};00:00:14{1};Bo Ek;No.\n"


@pytest.mark.parametrize(
    "head",
    ["Start;End;Speaker;Text", "Start;Ende;Sprecherin;Text", "Début;Fin;Locuteur;Texte", "a;b;c;d"],
)
def test_columns_are_known_by_name_or_by_what_stands_in_them(head: str) -> None:
    table = f"{head}\n{ROWS}00:00:20,000;00:00:21,000;Ada Lee;Why?\n".format(",000", ",500")
    cues = parse(table.encode(), name="a.csv").cues
    assert [(cue.start, cue.end, cue.text) for cue in cues] == [
        (3000, 8500, "Ada Lee: Yes."),
        (9000, 14_500, "Bo Ek: No."),
        (20_000, 21_000, "Ada Lee: Why?"),
    ]


def test_times_with_frames_are_a_guess_that_is_told() -> None:
    captions = parse(f"Start Time;End Time;Speaker Name;Text\n{ROWS}".format(":00", ":12").encode())
    assert [(cue.start, cue.end) for cue in captions.cues] == [(3000, 8480), (9000, 14_480)]
    assert [warning.code for warning in captions.warnings] == ["unsure_frame_rate"]


@pytest.mark.parametrize(
    "text",
    [
        "From,To,Subject,Body\nada@example.org,bo@example.org,Hi,Hello there\n",
        "Von,Bis,Thema\n09:00,09:30,Begrüßung\n09:30,10:00,Rede\n",
        "Text,Start\nA talk,tomorrow\n",
    ],
)
def test_mail_and_agendas_are_no_captions(text: str) -> None:
    assert parse(text.encode(), name="a.csv").format == "txt"


def test_words_of_ctm_are_joined_to_what_was_said() -> None:
    ctm = (
        ";; by a recogniser\ntalk 1 1.00 0.20 good 0.99\ntalk 1 1.30 0.30 morning 0.98 lex\n"
        "talk 1 4.00 0.30 tea\nnot a word\n"
    )
    captions = parse(ctm.encode(), name="talk.ctm")
    assert captions.format == "ctm"
    assert [(cue.start, cue.text) for cue in captions.cues] == [
        (1000, "good morning"),
        (4000, "tea"),
    ]
    assert [warning.code for warning in captions.warnings] == ["untimed_text"]


def test_prose_with_numbers_is_no_ctm() -> None:
    assert parse(b"Version b 1.0 2.0 differs\nin what it reads.\n", name="a.txt").format == "txt"
