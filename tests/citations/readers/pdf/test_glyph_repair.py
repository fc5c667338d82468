"""Wrong letters are put right where they cannot be meant, and counted where they can not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citations.readers.pdf.glyph_repair import is_gibberish, repair_glyphs


@pytest.mark.parametrize(
    ("given", "right"),
    [
        ("ﬁne ﬂow oﬀer eﬃcient waﬄe", "fine flow offer efficient waffle"),
        ("The derivaƟve of a funcƟon", "The derivative of a function"),
        ("AŌer the leŌ, oŌen", "After the left, often"),
        ("laƩer seƫng straighƞorward Goƪried", "latter setting straightforward Gottfried"),
        ("Example ϭϮ of ϯϬ", "Example 12 of 30"),
        ("SÊ½çã®ÊÄ It is clear", "Solution It is clear"),
    ],
)
def test_letters_of_a_lost_table_are_put_right(given: str, right: str) -> None:
    repaired = repair_glyphs(given)
    assert repaired.text == right
    assert repaired.garbled == 0


@pytest.mark.parametrize(
    "text",
    [
        "for every ϵ > 0",
        "the curvature ϰ and ϱ",
        "\uf0b7 a bullet",
        "Ōsaka and Tōkyō",
        "naïve façade, Ærø, Škoda",
        "Ênfase ção",
        "αβγ-globulin, µm",
        "Москва",
        "日本語 text",
    ],
)
def test_what_may_be_meant_stays_as_it_is(text: str) -> None:
    repaired = repair_glyphs(text)
    assert (repaired.text, repaired.repaired, repaired.garbled) == (text, 0, 0)


def test_words_are_counted_by_what_became_of_them() -> None:
    repaired = repair_glyphs("plain funcƟon \ue012\ue013roken wо\ufffdrd ﬁne")
    assert (repaired.words, repaired.repaired, repaired.garbled) == (5, 1, 2)


@pytest.mark.parametrize(
    "text",
    [
        "0SVIQ MTWYQ HSPSV WMX EQIX GSRWIGXIXYV EHMTMWGMRK IPMX",
        "7KH ZHDWKHU LV WKH VWDWH RI WKH DWPRVSKHUH DW D SODFH",
    ],
)
def test_words_stored_by_the_places_of_their_letters_are_no_words(text: str) -> None:
    assert is_gibberish(text)


@pytest.mark.parametrize(
    "text",
    [
        "Zażółć gęślą jaźń; wszystkie kwiaty są żywe, lecz z wyjątkiem jednego krzyku.",
        "Strč prst skrz krk, vlk zmrzl, zhltl hrst zrn, a čtvrt krtka krkl v krbu",
        "THE QUICK BROWN FOX JUMPS OVER THE LAZY DOG AGAIN",
        "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "我们用 push_to_hub 和 PyTorchModelHubMixin 保存模型，然后继续训练并且上传它",
        "y = f(x), dy/dx, sin x, cos y, ln z; XQV",
        "",
    ],
)
def test_words_of_any_language_are_words(text: str) -> None:
    assert not is_gibberish(text)


@given(
    st.text(
        alphabet=st.one_of(st.sampled_from("ƟŌƩƫƞƪϬϭϮﬁﬄ½®SÊa/ \n"), st.characters()), max_size=60
    )
)
def test_each_character_knows_where_it_comes_from(text: str) -> None:
    repaired = repair_glyphs(text)
    assert len(repaired.origin) == len(repaired.text)
    assert sorted(set(repaired.origin)) == list(range(len(text)))
    assert repaired.origin == sorted(repaired.origin)
    assert repair_glyphs(repaired.text).text == repaired.text or "ϭ" in text or "½" in text
