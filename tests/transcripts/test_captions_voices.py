"""Who speaks, where caption files say so apart from the words."""

import time

import pytest

from transcripts.captions import parse, to_srt, to_vtt
from transcripts.text.cues import Cue, Word


def vtt(*texts: str) -> tuple[Cue, ...]:
    """Read a file with a cue of ten seconds for each text."""
    blocks = [
        f"00:{n:02}:00.000 --> 00:{n:02}:10.000\n{text}\n" for n, text in enumerate(texts, start=1)
    ]
    return parse("\n".join(["WEBVTT\n", *blocks]).encode()).cues


def said(*texts: str) -> list[str]:
    return [cue.text for cue in vtt(*texts)]


MEETING = (
    "<v Ada Lovelace>Shall we begin</v>",
    "<v Ada Lovelace>with the engine?</v>",
    "<v.loud Bob>Yes.</v>",
    "<v Ada Lovelace>It computes.</v>",
    "<v Bob>And weaves.</v>",
)


def test_a_name_stands_where_another_voice_begins_and_not_before_each_cue() -> None:
    assert said(*MEETING) == [
        "Ada Lovelace: Shall we begin",
        "with the engine?",
        "Bob: Yes.",
        "Ada Lovelace: It computes.",
        "Bob: And weaves.",
    ]


def test_exported_captions_have_the_names_and_are_read_back_alike() -> None:
    cues = vtt(*MEETING)
    assert parse(to_vtt(cues).encode()).cues == cues
    assert parse(to_srt(cues).encode()).cues == cues


def test_several_voices_in_a_cue_divide_its_time() -> None:
    assert vtt("<v Ada>so we go</v>\n<v Bob>so I stay</v>") == (
        Cue(60_000, 65_000, "Ada: so we go"),
        Cue(65_000, 70_000, "Bob: so I stay"),
    )
    assert said("- <v Ada>Hi.</v>\n- <v Bob>Hello.</v>") == ["Ada: Hi.", "Bob: Hello."]


def test_a_voice_within_another_gives_the_word_back() -> None:
    assert said("<v Ada>So <v Bob>no!</v> yes</v>") == ["Ada: So", "Bob: no!", "Ada: yes"]
    assert said("<v Ada>So</v>", "and on", "<v>and on</v>", "<v Ada>and on") == [
        "Ada: So",
        "and on",
        "and on",
        "and on",
    ]


def test_other_markup_around_and_within_a_voice_is_dropped() -> None:
    assert said("<i><v Ada><b>So</b> <c.x>on</c></v></i>") == ["Ada: So on"]


def test_the_words_of_a_voice_keep_their_times() -> None:
    (cue,) = vtt("<v Ada>so<00:01:02.000><c> we go</c></v>")
    assert cue.words == (
        Word(60_000, "Ada:"),
        Word(60_000, "so"),
        Word(62_000, "we"),
        Word(62_000, "go"),
    )


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("Lovelace, Ada (Guest)", "Lovelace Ada Guest"),
        ("Ada\nLovelace", "Ada Lovelace"),
        ("  ada   lovelace ", "Ada Lovelace"),
        ("Ludwig van Beethoven", "Ludwig van Beethoven"),
        ("Ada: ignore this: Bob", "Ada ignore this Bob"),
        ("O&apos;Neil &amp; Sons", "O'Neil & Sons"),
        ("&lt;script&gt;Ada&#10;Bob", "Script Ada Bob"),
        ("Sammy Davis Jr.", "Sammy Davis Jr"),
        ("\u202eAda\0", "Ada"),
        ("李娜", "李娜"),
    ],
)
def test_a_name_is_written_so_that_it_can_stand_before_a_colon(written: str, name: str) -> None:
    assert said(f"<v {written}>Hi") == [f"{name}: Hi"]


@pytest.mark.parametrize("written", ["<v>Hi", "<v   >Hi", "<v ()>Hi", "<v.loud>Hi", "<v &nbsp;>Hi"])
def test_a_voice_without_a_name_is_nobody(written: str) -> None:
    assert said(written) == ["Hi"]


def test_a_name_that_the_words_repeat_is_written_once() -> None:
    assert said("<v Ada>Ada: Hi", "<v Ada>Bob is here") == ["Ada: Hi", "Bob is here"]


def test_a_voice_that_says_nothing_is_not_named() -> None:
    assert said("<v Ada></v>", "<v Bob> </v>", "<v Cy>Hi") == ["Cy: Hi"]


def test_a_name_of_a_hundred_thousand_characters_is_cut_and_takes_no_longer() -> None:
    started = time.process_time()
    (text, *_) = said(f"<v {'A' * 100_000}>Hi", "<v" * 100_000, "<v A></v>" * 20_000)
    assert text == f"{'A' * 100}: Hi"
    assert time.process_time() - started < 5


def test_agents_of_ttml_are_named_in_the_same_way() -> None:
    metadata = 'xmlns:m="http://www.w3.org/ns/ttml#metadata"'
    captions = parse(
        f"<tt xmlns='http://www.w3.org/ns/ttml' {metadata}><head><metadata>"
        "<m:agent xml:id='a' type='person'><m:name type='full'>Ada Lovelace</m:name></m:agent>"
        "<m:agent xml:id='b' type='person'><m:name type='full'>Bob</m:name></m:agent>"
        "</metadata></head><body><div>"
        "<p begin='1s' end='2s' m:agent='a'>So</p><p begin='2s' end='3s' m:agent='a'>and on.</p>"
        "<p m:agent='a'><span begin='3s' end='4s' m:agent='b'>Yes.</span></p>"
        "<p begin='4s' end='5s' m:agent='unknown'>Who?</p>"
        "</div></body></tt>".encode()
    )
    assert [cue.text for cue in captions.cues] == [
        "Ada Lovelace: So",
        "and on.",
        "Bob: Yes.",
        "Who?",
    ]
