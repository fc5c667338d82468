"""Who speaks in a recording, and what each says."""

from citations.reading.speakers import Speaker, speakers, speeches
from citations.reading.spoken_text import SpokenText
from transcripts.captions import parse
from transcripts.cues import Cue


def spoken(*texts: str) -> SpokenText:
    return SpokenText([Cue(n * 1000, n * 1000 + 900, text) for n, text in enumerate(texts)])


def test_a_name_has_up_to_four_words() -> None:
    text = spoken("Ana Maria de Souza: Why?", "Bo: So.", "Ana Maria de Souza: And?", "Bo: Yes.")
    assert speakers(speeches(text)) == [Speaker("Ana Maria de Souza", 2), Speaker("Bo", 2)]
    assert text.turns.turn_at(text.text.index("And")).name == "Ana Maria de Souza"


def test_voices_of_webvtt_are_the_speakers_of_the_reader_and_of_quotes() -> None:
    said = [
        ("Ada Lovelace", "Shall we"),
        ("Ada Lovelace", "begin"),
        ("bob", "Yes"),
        ("Ada Lovelace", "So"),
        ("bob", "No"),
    ]
    blocks = [
        f"00:0{n}:00.000 --> 00:0{n}:05.000\n<v {name}>{words}</v>\n"
        for n, (name, words) in enumerate(said)
    ]
    text = SpokenText(parse("\n".join(["WEBVTT\n", *blocks]).encode()).cues)
    assert speakers(speeches(text)) == [Speaker("Ada Lovelace", 2), Speaker("Bob", 2)]
    assert text.turns.turn_at(text.text.index("begin")).name == "Ada Lovelace"
    assert text.turns.turn_at(text.text.index("Yes")).name == "Bob"
