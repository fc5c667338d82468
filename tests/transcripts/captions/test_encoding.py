"""Decoding text that is not in Unicode."""

import pytest

from transcripts.captions import decode, parse
from transcripts.captions.caption_errors import BadEncoding

SAMPLES = {
    "windows-1251": "Мы поставили чайник и ждём гостей.",
    "koi8-r": "Мы поставили чайник и ждём гостей.",
    "cp866": "Дождь кончился, можно идти гулять.",
    "gb18030": "水开了，请把茶叶放进壶里。",
    "big5": "水開了，請把茶葉放進壺裡。",
    "shift_jis": "お湯が沸いたら茶葉を入れます。",
    "euc_jp": "お湯が沸いたら茶葉を入れます。",
    "iso2022_jp": "お湯が沸いたら茶葉を入れます。",
    "cp949": "물이 끓으면 찻잎을 넣으세요.",
    "cp1253": "Το νερό βράζει στην κατσαρόλα.",
    "cp1255": "המים רותחים, נוסיף את התה.",
    "cp1256": "الماء يغلي، نضيف الشاي الآن.",
    "cp1250": "Woda się gotuje, więc wsypujemy herbatę.",
    "cp1252": "Das Wasser kocht, wir gießen es über die Blätter.",
}


@pytest.mark.parametrize("encoding", SAMPLES)
def test_subtitles_in_the_encodings_of_older_programs_are_read(encoding: str) -> None:
    srt = f"1\n00:00:01,000 --> 00:00:02,000\n{SAMPLES[encoding]}\n"
    assert [cue.text for cue in parse(srt.encode(encoding)).cues] == [SAMPLES[encoding]]


def test_a_guess_with_little_to_go_by_is_told() -> None:
    srt = "1\n00:00:01,000 --> 00:00:02,000\nŹle, że już\n".encode("cp1250")
    assert [warning.code for warning in parse(srt).warnings] == ["unsure_encoding"]


def test_a_guess_that_puts_capitals_into_words_is_told() -> None:
    text = "Сегодня мы печём хлеб, а завтра поедем к морю."
    srt = f"1\n00:00:01,000 --> 00:00:02,000\n{text}\n".encode("mac_cyrillic")
    assert [warning.code for warning in parse(srt).warnings] == ["unsure_encoding"]


def test_a_clear_guess_is_not() -> None:
    srt = f"1\n00:00:01,000 --> 00:00:02,000\n{SAMPLES['shift_jis']}\n".encode("shift_jis")
    assert not parse(srt).warnings


@pytest.mark.parametrize("label", ["iso-8859-1", "latin1", "us-ascii", "windows-1252"])
def test_a_label_means_what_browsers_mean_by_it(label: str) -> None:
    assert decode("“5 €” – déjà".encode("cp1252"), declared=label).text == "“5 €” – déjà"


@pytest.mark.parametrize("label", ["zip", "punycode", "utf-16", "replacement", ""])
def test_a_label_that_names_no_encoding_of_these_bytes_is_ignored(label: str) -> None:
    assert decode(b"caf\xc3\xa9", declared=label).text == "café"


def test_a_declaration_in_xml_is_a_label() -> None:
    ttml = '<?xml version="1.0" encoding="windows-1251"?><tt><p begin="1s">Да</p></tt>'
    assert parse(ttml.encode("cp1251")).cues[0].text == "Да"


def test_bytes_of_no_encoding_are_refused_with_their_place() -> None:
    with pytest.raises(BadEncoding, match="0x81"):
        parse(b"00:00:01,000 --> 00:00:02,000\n\x81\x8d\xe9 and so on")
