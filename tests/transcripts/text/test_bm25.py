"""Search in one transcript: words, scores, ranks, storage, highlighting."""

import json
import math
import random
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import bm25s
import numpy
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from transcripts.text.bm25 import (
    DEFAULT,
    Hit,
    Index,
    Parameters,
    QueryWord,
    idf,
    length_norm,
    score_formula,
)
from transcripts.text.cues import Cue, group_by_time
from transcripts.text.stemming import stems
from transcripts.text.terms import counted_in, matched_spans, words_in
from transcripts.text.tokenizer import MAX_QUERY_WORDS, tokenize

ASCII = st.text(alphabet=st.characters(max_codepoint=127), max_size=80)
ANYTHING = st.text(
    alphabet=st.one_of(
        st.characters(exclude_categories=["Cs"]),
        st.sampled_from("aAit '’ßİıſﬁＡé\u0301\u0307猫が好ｶﾞ각\u1100\u1161\u11a8ทน้\u00ad\u200d_1."),
    )
)
FEW_WORDS = st.lists(
    st.sampled_from(["to", "be", "or", "not", "that", "is", "the", "question"]), max_size=12
).map(" ".join)
LIBRARY = st.lists(FEW_WORDS, max_size=25)


def indexed(texts: Sequence[str], language: str = "", by: Parameters = DEFAULT) -> Index:
    return Index.build([counted_in(text, language) for text in texts], by)


def rank(index: Index, query: str, *, limit: int, language: str = "") -> list[Hit]:
    return index.rank(words_in(query, language), limit=limit)


def plugin_tokens(text: str) -> list[str]:
    """Tokenize as the plugin does: lower case, blanks for all but letters, digits and underscores,
    single characters dropped.
    """
    return [
        word
        for word in re.split(r"\s+", re.sub(r"[^\w\s]", " ", text.lower(), flags=re.ASCII))
        if len(word) > 1
    ]


def direct_scores(texts: Sequence[str], query: str) -> list[float]:
    """Score every text by the formula, written down once more and without any index."""
    documents = [stems(tokenize(text), "en") for text in texts]
    average = sum(map(len, documents)) / len(documents) if documents else 0
    scores = []
    for document in documents:
        score = 0.0
        for term in stems(tokenize(query), "en"):
            n = sum(term in other for other in documents)
            tf = document.count(term)
            if tf:
                weight = math.log((len(documents) - n + 0.5) / (n + 0.5) + 1)
                score += (
                    weight
                    * tf
                    * (1.5 + 1)
                    / (tf + 1.5 * (1 - 0.75 + 0.75 * len(document) / average))
                )
        scores.append(score)
    return scores


def real_segments(data: Path, pattern: str) -> list[str]:
    """Read real transcripts and cut them into search segments."""
    texts: list[str] = []
    for path in sorted((data / "dev" / "transcripts").glob(pattern)):
        cues = [
            Cue(
                round(1000 * cue["start"]),
                round(1000 * (cue["start"] + cue["duration"])),
                cue["text"],
            )
            for cue in json.loads(path.read_text("utf-8"))["cues"]
        ]
        texts += [group.text for group in group_by_time(cues, 30)]
    return texts


# Words


@given(ASCII)
@example("It's 5 a.m., isn't it? snake_case C++ don't\x1cstop\x0b")
def test_ascii_text_has_the_plugins_words(text: str) -> None:
    assert tokenize(text) == plugin_tokens(text)


@given(ASCII)
def test_ascii_words_are_the_same_in_text_that_is_not_all_ascii(text: str) -> None:
    assert tokenize(f"{text} ж") == tokenize(text)
    assert tokenize(f"♥ {text}") == tokenize(text)


@given(ASCII)
def test_typographic_punctuation_is_punctuation(text: str) -> None:
    typeset = text.replace("'", "’").replace("-", "—").replace('"', "“")
    assert tokenize(typeset) == tokenize(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It's GPT-4, isn't it?", ["it", "gpt", "isn", "it"]),
        ("Привет, Мир! Я и ёж", ["привет", "мир", "ёж"]),
        ("Über große Straßen in KÖLN", ["über", "grosse", "strassen", "in", "köln"]),
        ("GROSSE STRASSEN", ["grosse", "strassen"]),
        ("Οδυσσεύς ΟΔΥΣΣΕΎΣ", ["οδυσσεύσ", "οδυσσεύσ"]),
        ("İstanbul istanbul ISTANBUL", ["istanbul", "istanbul", "istanbul"]),
        ("ﬁnal ｆｕｌｌ－ｗｉｄｔｈ １２３ x²", ["final", "full", "width", "123", "x2"]),
        ("co\u00adoperate می\u200cخواهم", ["cooperate", "میخواهم"]),
        ("cafe\u0301 café CAFÉ", ["café", "café", "café"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("שָׁלוֹם", [unicodedata.normalize("NFKC", "שָׁלוֹם")]),
        ("مرحبا، بالعالم؟", ["مرحبا", "بالعالم"]),
        ("❤️ 1️⃣ 🎉 🇩🇪", []),
    ],
)
def test_words_beyond_ascii(text: str, words: list[str]) -> None:
    assert tokenize(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("猫が好き", ["猫が", "が好", "好き"]),
        ("猫", ["猫"]),
        ("Python入門、第3章", ["python", "入門", "第", "章"]),
        ("ｶﾞｷﾞ", ["ガギ"]),
        ("ラーメン", ["ラー", "ーメ", "メン"]),
        ("東京・大阪", ["東京", "大阪"]),
        ("한국어 책", ["한국", "국어", "책"]),
        ("ภาษา", ["ภา", "าษ", "ษา"]),
        ("ที่นี่", ["ที่นี่"]),
        ("ที่", ["ที่"]),
        ("ສະບາຍ", ["ສະ", "ະບ", "ບາ", "າຍ"]),
        ("ខ្មែរ\u200bល្អ", ["ខ្មែ", "មែរ", "ល្អ"]),
        ("𠮷野家", ["𠮷野", "野家"]),
    ],
)
def test_scripts_without_blanks_are_cut_into_pairs_of_characters(
    text: str, words: list[str]
) -> None:
    assert tokenize(text) == words


@pytest.mark.parametrize("apostrophe", ["'", "’", "‘", "ʼ", "＇"])
def test_an_apostrophe_joins_letters_beyond_ascii_and_separates_beside_ascii_letters(
    apostrophe: str,
) -> None:
    assert tokenize(f"п{apostrophe}ять") == ["п'ять"]
    assert tokenize(f"it{apostrophe}s") == ["it"]
    assert tokenize(f"l{apostrophe}été") == ["été"]
    assert tokenize(f"Zoë{apostrophe}s") == ["zoë"]
    assert tokenize(f"{apostrophe}привет{apostrophe} мир{apostrophe}") == ["привет", "мир"]


@given(ANYTHING)
def test_words_never_hold_blanks_and_are_found_whatever_their_case(text: str) -> None:
    tokens = tokenize(text)
    assert all(token and not any(character.isspace() for character in token) for token in tokens)
    assert tokenize(text.casefold()) == tokens


@given(ANYTHING)
def test_canonically_equal_texts_have_the_same_words(text: str) -> None:
    assert tokenize(unicodedata.normalize("NFD", text)) == tokenize(
        unicodedata.normalize("NFC", text)
    )


def test_a_lone_surrogate_is_no_word() -> None:
    assert tokenize("ab\ud800cd") == ["ab", "cd"]


# Scores


@given(texts=LIBRARY, query=FEW_WORDS)
def test_scores_are_those_of_the_formula(texts: list[str], query: str) -> None:
    scores = direct_scores(texts, query)
    hits = rank(indexed(texts), query, limit=len(texts) + 1)
    assert {hit.position for hit in hits} == {
        position for position, score in enumerate(scores) if score > 0
    }
    for hit in hits:
        assert hit.score == pytest.approx(scores[hit.position], rel=1e-12)


@given(texts=LIBRARY, query=FEW_WORDS, limit=st.integers(1, 30))
def test_a_limit_gives_the_best_of_all(texts: list[str], query: str, limit: int) -> None:
    index = indexed(texts)
    assert rank(index, query, limit=limit) == rank(index, query, limit=len(texts) + 1)[:limit]


@given(texts=LIBRARY, query=FEW_WORDS)
def test_equal_segments_rank_in_the_transcripts_order(texts: list[str], query: str) -> None:
    hits = rank(indexed(texts + texts), query, limit=100)
    places = {hit.position: place for place, hit in enumerate(hits)}
    assert all(
        places[position] < places[position + len(texts)]
        for position in places
        if position < len(texts)
    )
    assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.position))


def test_a_repeated_word_of_the_query_counts_again() -> None:
    index = indexed(["apple pie", "cherry pie", "plum"])
    (once,), (twice,) = rank(index, "apple", limit=1), rank(index, "apple Apple!", limit=1)
    assert twice.score == pytest.approx(2 * once.score)


def test_a_word_of_every_segment_still_counts() -> None:
    assert idf(10, 10) > 0
    assert [hit.position for hit in rank(indexed(["the", "the the"]), "the", limit=5)] == [1, 0]


def plugin_ranking(texts: Sequence[str], query: str) -> list[tuple[int, float]]:
    """Rank as the plugin's document writes it down: idf of the query's vocabulary, the average
    length, every segment scored by all tokens of the query, those above zero sorted.
    """
    documents, tokens = [plugin_tokens(text) for text in texts], plugin_tokens(query)
    n = len(documents)
    rarity = {}
    for term in {*tokens}:
        having = sum(term in document for document in documents)
        rarity[term] = math.log((n - having + 0.5) / (having + 0.5) + 1)
    average = sum(map(len, documents)) / n if n else 0.0
    scored = []
    for number, document in enumerate(documents):
        counts, score = Counter(document), 0.0
        for term in tokens:
            if counts[term]:
                numerator = counts[term] * (1.5 + 1)
                denominator = counts[term] + 1.5 * (1 - 0.75 + 0.75 * (len(document) / average))
                score += rarity[term] * (numerator / denominator)
        scored.append((number, score))
    return sorted((hit for hit in scored if hit[1] > 0), key=lambda hit: -hit[1])


def ranks_as_the_plugin(texts: Sequence[str], query: str) -> None:
    index = Index.build([counted_in(text, None) for text in texts])
    hits = index.rank(words_in(query, None), limit=len(texts) + 1)
    expected = plugin_ranking(texts, query)
    assert {hit.position: hit.score for hit in hits} == pytest.approx(dict(expected), rel=1e-12)
    for (_, before), (_, after) in pairwise(expected):
        assert before >= after
    scores = dict(expected)
    for first, second in pairwise(hit.position for hit in hits):
        assert scores[first] >= scores[second] * (1 - 1e-12)


@given(texts=st.lists(ASCII, max_size=20), query=ASCII)
@example(texts=["Wi-Fi it's 5 a.m. C++", "wifi networks", "network"], query="networks in C++, wifi")
def test_without_stems_and_forms_segments_rank_as_in_the_plugin(
    texts: list[str], query: str
) -> None:
    ranks_as_the_plugin(texts, query)


def test_without_stems_and_forms_real_segments_rank_as_in_the_plugin(real_data: Path) -> None:
    texts = [text for text in real_segments(real_data, "ocw6012/*.json") if text.isascii()][:300]
    for query in queries_from(texts, count=20):
        ranks_as_the_plugin(texts, query)


def test_the_parts_of_the_formula() -> None:
    assert idf(10, 3) == pytest.approx(math.log(7.5 / 3.5 + 1))
    assert Parameters(k1=1.5, b=0.75) == DEFAULT
    assert length_norm(20, 10.0) == pytest.approx(1.5 * (0.25 + 0.75 * 2))
    assert length_norm(0, 0.0) == 1.5 * 0.25
    assert score_formula(2, 1.5, 3.0) == pytest.approx(3.0 * 2 * 2.5 / 3.5)


def test_the_constants_decide_whether_repetition_and_length_count() -> None:
    texts = ["pie and more of it", "pie", "pie pie pie and so on for long"]

    def scores(parameters: Parameters) -> list[float]:
        index = Index.from_bytes(indexed(texts).to_bytes(), parameters=parameters)
        assert rank(index, "pie", limit=3) == rank(indexed(texts, "", parameters), "pie", limit=3)
        return [
            hit.score for hit in sorted(rank(index, "pie", limit=3), key=lambda hit: hit.position)
        ]

    same = scores(Parameters(k1=0.0, b=1.0))
    assert same == pytest.approx([same[0]] * 3)
    long, short, often = scores(Parameters(k1=1.5, b=0.0))
    assert long == short < often
    long, short, often = scores(Parameters(k1=1.5, b=1.0))
    assert long < short


def test_the_longest_query_of_the_rarest_words_does_not_overflow_with_the_greatest_k1() -> None:
    words = [f"w{number}" for number in range(MAX_QUERY_WORDS)]
    index = indexed([" ".join(words), "other"], "", Parameters(k1=2.0, b=0.0))
    (hit,) = rank(index, " ".join(words), limit=1)
    assert hit.position == 0
    rarest = (2.0 + 1) * math.log(2**30) * 2**16
    assert MAX_QUERY_WORDS * rarest + MAX_QUERY_WORDS + 1 < 2**31


def agrees_with_bm25s(texts: list[str], queries: list[str], language: str = "en") -> None:
    """Compare all scores for the stems of words with bm25s, whose “lucene” is our formula without
    the constant factor k1 + 1, computed in double precision.
    """
    other = bm25s.BM25(k1=1.5, b=0.75, method="lucene", dtype="float64")
    words = [stems(tokenize(text), language) for text in texts]
    other.index(words, show_progress=False)
    index = Index.build([(Counter(own), len(own)) for own in words])
    for query in queries:
        own = stems(tokenize(query), language)
        expected = other.get_scores(own) * (DEFAULT.k1 + 1)
        query_words = [QueryWord(word, n, ((word, 1.0),)) for word, n in Counter(own).items()]
        hits = index.rank(query_words, limit=len(texts))
        scores = numpy.zeros(len(texts))
        scores[[hit.position for hit in hits]] = [hit.score for hit in hits]
        numpy.testing.assert_allclose(scores, expected, rtol=1e-9)
        ranked = [expected[hit.position] for hit in hits]
        assert all(before >= after * (1 - 1e-9) for before, after in pairwise(ranked))


def queries_from(texts: list[str], *, count: int) -> list[str]:
    """Draw queries of 1 to 8 words of a segment, and some of neighbouring words."""
    source = random.Random(7)
    drawn = [
        [word for word in tokenize(source.choice(texts)) if len(word) > 1] for _ in range(count)
    ]
    return [
        " ".join(source.sample(words, min(len(words), source.randint(1, 8)))) for words in drawn
    ] + [" ".join(words[:6]) for words in drawn[::4]]


@given(
    texts=st.lists(FEW_WORDS.filter(bool), min_size=1, max_size=20), query=FEW_WORDS.filter(bool)
)
def test_generated_segments_score_as_in_bm25s(texts: list[str], query: str) -> None:
    known = " ".join(word for word in query.split() if any(word in text.split() for text in texts))
    agrees_with_bm25s(texts, [known] if known else [])


@pytest.mark.parametrize(
    ("pattern", "language"),
    [
        ("tutorialvqa/*.json", ""),
        ("ocw6012/*.json", "en"),
        ("hfcourse_zh-CN/*.json", "zh-CN"),
        ("nyudl_ar/*.json", "ar"),
        ("nyudl_fr/*.json", "fr"),
    ],
)
def test_real_transcripts_rank_as_in_bm25s(real_data: Path, pattern: str, language: str) -> None:
    texts = real_segments(real_data, pattern)[:1500]
    assert texts
    agrees_with_bm25s(texts, queries_from(texts, count=40), language)


# One character of a script without blanks


def test_a_single_character_is_found_wherever_it_is_said() -> None:
    texts = ["猫が好き", "好きな猫", "犬", "白猫だ", "猫"]
    hits = rank(indexed(texts), "猫", limit=5)
    assert {hit.position for hit in hits} == {0, 1, 3, 4}
    assert hits[0].position == 4


def test_a_character_said_twice_counts_more() -> None:
    first, second = rank(indexed(["猫と犬と鳥", "猫と猫と鳥", "魚と貝と海"]), "猫", limit=5)
    assert (first.position, second.position) == (1, 0)


# Odd transcripts and odd queries


def test_a_transcript_without_words_has_no_hits() -> None:
    for texts in ([], [""], ["", "?!", "a"]):
        index = indexed(texts)
        assert (index.size, index.average_length) == (len(texts), 0.0)
        assert rank(index, "anything at all", limit=5) == []


@pytest.mark.parametrize("query", ["", "   ", "?!", "a", "zebra", "\n", "'"])
def test_a_query_without_known_words_has_no_hits(query: str) -> None:
    assert rank(indexed(["some words", "more words"]), query, limit=5) == []


@pytest.mark.parametrize("limit", [0, -1])
def test_no_hits_are_query_words_and_none_come(limit: int) -> None:
    assert rank(indexed(["word"]), "word", limit=limit) == []


def test_a_word_said_very_often_is_counted_and_kept() -> None:
    index = Index.from_bytes(indexed(["blah " * 70_000, "blah", "else"]).to_bytes())
    scores = {hit.position: hit.score for hit in rank(index, "blah", limit=5)}
    assert [scores[0], scores[1], 0] == pytest.approx(
        direct_scores(["blah " * 70_000, "blah", "else"], "blah")
    )


def test_more_segments_than_sixteen_bits_count() -> None:
    texts = ["common"] * 70_000
    texts[69_999] = "common rare"
    index = Index.from_bytes(indexed(texts).to_bytes())
    assert index.size == 70_000
    assert [hit.position for hit in rank(index, "rare", limit=5)] == [69_999]
    assert [hit.position for hit in rank(index, "common", limit=3)] == [0, 1, 2]


def test_a_very_long_query_is_answered_from_its_beginning() -> None:
    texts = [f"word{number}" for number in range(3000)]
    hits = rank(indexed(texts), " ".join(texts), limit=5000)
    assert [hit.position for hit in hits] == list(range(MAX_QUERY_WORDS))


def test_a_word_repeated_to_the_limit_overflows_nothing() -> None:
    texts = ["needle"] + ["hay"] * 5000
    (hit,) = rank(indexed(texts), "needle " * 5000, limit=3)
    (once,) = rank(indexed(texts), "needle", limit=3)
    assert hit.position == 0
    assert hit.score == pytest.approx(MAX_QUERY_WORDS * once.score)


def test_asking_again_gives_the_same() -> None:
    source = random.Random(3)
    texts = [
        " ".join(source.choices(string.ascii_letters, k=60)).replace(" ", "", 30)
        for _ in range(100)
    ]
    index = indexed([f"the {text} of {text[:8]}" for text in texts])
    query = f"the of {texts[5][:8]} the"
    assert (
        rank(index, query, limit=7)
        == rank(index, query, limit=7)
        == rank(Index.from_bytes(index.to_bytes()), query, limit=7)
    )


# Storage


@given(texts=st.lists(ANYTHING, max_size=8), query=ANYTHING)
def test_a_stored_index_answers_the_same(texts: list[str], query: str) -> None:
    index = indexed(texts)
    stored = Index.from_bytes(index.to_bytes())
    assert (stored.size, stored.average_length) == (index.size, index.average_length)
    assert rank(stored, query, limit=20) == rank(index, query, limit=20)
    assert stored.to_bytes() == index.to_bytes()


@given(st.binary(max_size=200))
def test_foreign_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="search index"):
        Index.from_bytes(data)


def test_a_damaged_index_is_refused_wherever_the_damage_is() -> None:
    blob = indexed(["some words", "other words, more words", "wörter"]).to_bytes()
    for place in range(len(blob)):
        with pytest.raises(ValueError, match=r"search index|utf-8"):
            Index.from_bytes(blob[:place] + bytes([blob[place] ^ 0xFF]) + blob[place + 1 :])
        with pytest.raises(ValueError, match="search index"):
            Index.from_bytes(blob[:place])
    with pytest.raises(ValueError, match="search index"):
        Index.from_bytes(blob + b"\0")


def test_a_stored_index_is_no_larger_than_its_text() -> None:
    source = random.Random(1)
    vocabulary = ["".join(source.choices(string.ascii_lowercase, k=7)) for _ in range(2000)]
    texts = [" ".join(source.choices(vocabulary, k=70)) for _ in range(240)]
    assert len(indexed(texts).to_bytes()) < sum(map(len, texts))


# Highlighting


@pytest.mark.parametrize(
    ("text", "query", "words"),
    [
        ("It's the cat; the CAT sat.", "cat", ["cat", "CAT"]),
        ("catalogue of cats", "cat", ["cats"]),
        ("the weights of a weighted sum", "weighting", ["weights", "weighted"]),
        ("a cat", "a", ["a"]),
        ("Die Straße, die STRASSE", "strasse", ["Straße", "STRASSE"]),
        ("nach İstanbul, ﬁnally", "istanbul finally", ["İstanbul", "ﬁnally"]),
        ("ßßß cat ﬀ cat", "cat", ["cat", "cat"]),
        ("ｆｕｌｌ Ａｂｃ", "abc", ["Ａｂｃ"]),
        ("cafe\u0301 crème", "café", ["cafe\u0301"]),
        ("猫が好きな人", "好きな", ["好きな"]),
        ("猫が好き。好きだ", "好き", ["好き", "好き"]),
        ("白猫と黒猫", "猫", ["猫", "猫"]),
        ("ｶﾞｷﾞを見る", "ガギ", ["ｶﾞｷﾞ"]),
        ("Python入門", "python", ["Python"]),
        ("그는 \u1112\u1161\u11ab국어", "한국", ["\u1112\u1161\u11ab국"]),
        ("на п’ять хвилин", "п'ять", ["п’ять"]),
        ("co\u00adoperate now", "cooperate", ["co\u00adoperate"]),
        ("ที่นี่", "ที่", ["ที่"]),
        ("พูดภาษาไทย", "ภาษา", ["ภาษา"]),
        ("", "cat", []),
        ("cat", "", []),
    ],
)
def test_the_words_of_the_query_are_marked_in_the_text_as_written(
    text: str, query: str, words: list[str]
) -> None:
    assert [text[start:end] for start, end in matched_spans(text, query)] == words


@pytest.mark.parametrize(
    ("text", "query", "language", "words"),
    [
        ("Die Häuser am See", "haus", "de", ["Häuser"]),
        ("Die Häuser am See", "haus", "en", []),
        ("Les réseaux apprennent", "réseau", "fr-CA", ["réseaux"]),
        ("Las redes neuronales", "red neuronal", "es", ["redes", "neuronales"]),
        ("As redes aprendem", "aprender", "pt-BR", ["aprendem"]),
        ("Le reti imparano", "rete", "it", ["reti"]),
        ("De netwerken leren", "netwerk", "nl", ["netwerken"]),
        ("Обучение машин", "машина обучения", "ru", ["Обучение", "машин"]),
        ("هذا الكتاب", "كتاب", "ar", ["الكتاب"]),
        ("神经网络 networks", "network 网络", "zh", ["网络"]),
        ("nichts und note", "not", "sv", ["note"]),
    ],
)
def test_other_forms_of_a_word_are_marked_in_the_texts_language(
    text: str, query: str, language: str, words: list[str]
) -> None:
    assert [text[a:b] for a, b in matched_spans(text, query, language)] == words


@given(text=ANYTHING, query=ANYTHING)
@example(text="ßİﬁ", query="ss")
def test_marks_are_in_order_and_inside_the_text(text: str, query: str) -> None:
    spans = matched_spans(text, query)
    borders = [border for span in spans for border in span]
    assert borders == sorted(borders)
    assert all(start < end for start, end in spans)
    assert not borders or (borders[0] >= 0 and borders[-1] <= len(text))


@given(ANYTHING)
def test_a_text_is_marked_by_its_own_words_and_what_is_marked_holds_them_all(text: str) -> None:
    marked = " ".join(text[start:end] for start, end in matched_spans(text, text))
    assert set(tokenize(text)) <= set(tokenize(marked))


def test_marking_takes_time_in_proportion_to_the_text() -> None:
    text = "e" + "\u0301" * 20_000 + " word " + "ﾞ" * 20_000
    assert [text[start:end] for start, end in matched_spans(text, "word")] == ["word"]


def test_a_hit_is_a_plain_value() -> None:
    assert rank(indexed(["only"]), "only", limit=1) == [Hit(position=0, score=idf(1, 1))]
