"""Names of files as titles."""

import pytest

from transcripts.adding.files import readable


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("openstax-calculus-1", "openstax calculus 1"),
        ("my_notes", "my notes"),
        ("well-known_facts", "well-known facts"),
        ("Set theory - an introduction", "Set theory - an introduction"),
        ("COVID-19-report", "COVID-19 report"),
        ("2024-05-01-minutes", "2024-05-01 minutes"),
        ("--", "--"),
        ("", ""),
        ("H39Z_720T5s", "H39Z_720T5s"),
        ("my_talk-H39Z_720T5s", "my talk H39Z_720T5s"),
        ("Algorithms_Week_3_Quiz", "Algorithms Week 3 Quiz"),
        ("CS224_Lec_5_Graph", "CS224 Lec 5 Graph"),
        ("My talk [a_B3-x9_Qz7]", "My talk [a_B3-x9_Qz7]"),
        ("lecture_part_two_3d", "lecture part two 3d"),
    ],
)
def test_hyphens_and_underscores_become_blanks_where_they_stand_for_them(
    name: str, title: str
) -> None:
    assert readable(name) == title


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("talk.transcript", "talk"),
        ("talk.Transcripts", "talk"),
        ("my-talk-transcript", "my talk"),
        ("my_talk_TRANSCRIPT", "my talk"),
        ("Week 3 - Transcript", "Week 3"),
        ("Week 3 (full transcript)", "Week 3"),
        ("Week 3 transcript", "Week 3"),
        ("Vortrag Transkript", "Vortrag"),
        ("My talk [a_B3-x9_Qz7].transcript", "My talk [a_B3-x9_Qz7]"),
        ("transcript", "transcript"),
        (".transcript", "transcript"),
        ("- transcript", "- transcript"),
        ("How to make a transcript", "How to make a transcript"),
        ("how-to-read-the-transcript", "how to read the transcript"),
        ("transcript-of-a-talk", "transcript of a talk"),
        ("transcripts 1986", "transcripts 1986"),
        ("My manuscript", "My manuscript"),
    ],
)
def test_that_a_file_is_a_transcript_is_no_part_of_its_title(name: str, title: str) -> None:
    assert readable(name) == title


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("talk%20about%20tokens", "talk about tokens"),
        ("Gr%C3%BC%C3%9Fe", "Grüße"),
        ("100%25 sure", "100% sure"),
        ("caf%E9", "caf%E9"),
        ("a%00b", "a%00b"),
        ("50%", "50%"),
        ("5%zz", "5%zz"),
    ],
)
def test_what_an_address_escapes_is_readable_where_it_is_text(name: str, title: str) -> None:
    assert readable(name) == title


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("rec 0001.MP4", "rec 0001"),
        ("my-talk.webm", "my talk"),
        ("talk.transcript.mp4", "talk"),
        ("Version 1.5", "Version 1.5"),
        ("mp4", "mp4"),
        (".mp4", "mp4"),
    ],
)
def test_the_ending_of_a_recording_is_no_part_of_its_title(name: str, title: str) -> None:
    assert readable(name) == title


@pytest.mark.parametrize(
    ("name", "title"), [("....dots..", "dots"), ("...", "..."), ("Wait...", "Wait...")]
)
def test_points_that_hide_a_file_are_no_part_of_its_title(name: str, title: str) -> None:
    assert readable(name) == title
