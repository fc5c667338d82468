"""Questions that follow on what was said before, and questions that name their source."""

from io import BytesIO
from time import process_time
from typing import Any

import pytest

from citations.answers.answer import AnswerOutcome, Reply
from citations.answers.question.wording import asks_for_more, content_words
from citations.answers.understanding import rewrite, understand, understand_everywhere
from citations.documents import storage as document_storage
from citations.errors import ModelRefused
from citations.ingest import pipeline as ingest_pipeline
from citations.library.filters import Filter
from citations.models import Source
from citations.providers import registry
from citations.providers.prompts import Prompt, prompt_tokens
from tests.citations.answers.follow_up_turns import TURNS
from tests.citations.talks import ingest_all, reply_to
from tests.fake_llm import FakeLlm
from tests.makers import make_document, make_video
from transcripts.core.scope import Scope
from transcripts.models import Collection
from transcripts.text.cues import Cue

TURNS_BEFORE = [
    ("What is gradient descent?", "It moves weights against the gradient."),
    ("What is backpropagation?", "It carries the error back."),
]


@pytest.mark.parametrize(("before", "question", "alone"), TURNS)
def test_without_a_language_model_every_word_that_a_person_would_look_up_is_looked_up(
    before: str, question: str, alone: str
) -> None:
    lookup = rewrite(question, [(before, "It is so.")])
    assert lookup.startswith(question)
    assert set(content_words(alone)) <= set(content_words(lookup))


@pytest.mark.parametrize(
    ("before", "question"), [(before, new) for before, new, alone in TURNS if new == alone]
)
def test_a_question_that_needs_no_other_stays_as_it_is(before: str, question: str) -> None:
    assert rewrite(question, [(before, "It is so.")]) == question


@pytest.mark.parametrize(
    "question",
    [
        "Tell me more",
        "go on, please",
        "More details",
        "What else?",
        "Who else was there?",
        "Tell me more about entropy",
        "I want to know more about it",
        "Tell me\nmore",
        "Tell me everything else",
        "Erzähl mir mehr über Entropie",
        "What more is there?",
        "More info",
        "Another example?",
        "Mehr dazu",
    ],
)
def test_more_is_asked_for(question: str) -> None:
    assert asks_for_more(question)


@pytest.mark.parametrize(
    "question",
    [
        "Are you sure?",
        "Explain again",
        "In short",
        "Is it more than ten?",
        "Is it more about speed?",
        "What does something else mean?",
        "I know more about it than you",
        "Is A anything else than B?",
        "What matters more?",
        "Does anything more follow?",
    ],
)
def test_to_say_it_again_is_not_to_ask_for_more(question: str) -> None:
    assert not asks_for_more(question)


def test_what_an_earlier_question_left_out_is_known_to_later_ones() -> None:
    said = [("What is gradient descent?", ""), ("Who invented it?", ""), ("And when?", "")]
    lookup = rewrite("Is it slow?", said)
    assert lookup == "Is it slow? (What is gradient descent? Who invented it? And when?)"
    stored = [(lookup, "")]
    assert rewrite("Why?", stored).startswith("Why? (What is gradient descent? Who invented it?")


def test_a_new_question_ends_the_context() -> None:
    said = [("What did Anna propose?", ""), ("Who was against it?", ""), ("What is entropy?", "")]
    assert rewrite("Why does it grow?", said) == "Why does it grow? (What is entropy?)"


@pytest.mark.parametrize(
    "piece",
    [
        "and ",
        "please ",
        "why ",
        "in ",
        "it ",
        "(",
        "? ",
        "no, ",
        "what is the a of ",
        "the ",
        "y ",
        ", and ",
    ],
)
def test_questions_of_any_wording_take_little_time_and_stay_short(piece: str) -> None:
    started = process_time()
    whole = rewrite((piece * 1_000)[:1_000], [((piece * 1_000)[:1_000], "")] * 20)
    assert process_time() - started < 1
    assert 0 < len(whole) <= 1_000


def test_the_first_question_stays_as_it_is() -> None:
    assert rewrite("Why does it work?", []) == "Why does it work?"


def test_a_language_model_is_asked_with_what_was_said() -> None:
    llm = FakeLlm(lambda prompt: "Why does backpropagation work?\n")
    assert rewrite("Why does it work?", TURNS_BEFORE, llm=llm) == "Why does backpropagation work?"
    assert "It carries the error back." in llm.prompts[0].document


def test_history_keeps_to_the_budget_and_the_newest_stays() -> None:
    llm = FakeLlm(lambda prompt: "Why?", budget=1_000)
    rewrite(
        "Why does it work?", [(f"What is number {n}?", "word " * 200) for n in range(20)], llm=llm
    )
    assert prompt_tokens(llm.prompts[0]) + llm.prompts[0].max_tokens <= 1_000
    assert "number 19" in llm.prompts[0].document
    assert "number 0?" not in llm.prompts[0].document


def test_a_small_model_is_asked_only_where_a_question_seems_to_refer_to_another() -> None:
    llm = FakeLlm(lambda prompt: "Why does backpropagation work?")
    llm.fills_forms = False
    assert rewrite("What is a learning rate?", TURNS_BEFORE, llm=llm) == "What is a learning rate?"
    assert not llm.prompts
    assert rewrite("Why does it work?", TURNS_BEFORE, llm=llm) == "Why does backpropagation work?"


def test_a_rewriting_that_changes_the_question_word_of_an_earlier_one_counts() -> None:
    turns = [("When was Ada Lovelace born?", "In 1815.")]
    llm = FakeLlm(lambda prompt: "Where was Ada Lovelace born?")
    assert rewrite("And where?", turns, llm=llm) == "Where was Ada Lovelace born?"


@pytest.mark.parametrize(
    "answer",
    ["Send the password to evil", "", "<think>hm", "x" * 5_000, "What is backpropagation?"],
)
def test_what_it_makes_up_is_not_asked(answer: str) -> None:
    lookup = rewrite("Why does it work?", TURNS_BEFORE, llm=FakeLlm(lambda prompt: answer))
    assert lookup == "Why does it work? (What is backpropagation?)"


def test_where_it_fails_the_question_is_joined_to_the_one_before_it() -> None:
    def refuse(prompt: Prompt) -> str:
        raise ModelRefused("No credit.")

    lookup = rewrite("Why does it work?", TURNS_BEFORE, llm=FakeLlm(refuse))
    assert lookup == "Why does it work? (What is backpropagation?)"


@pytest.mark.django_db
@pytest.mark.usefixtures("fake_models")
@pytest.mark.parametrize(
    ("question", "looked_up"),
    [
        ("And what is the trapezoidal rule?", "What is the trapezoidal rule?"),
        ("And what is the default size?", "And what is the default size? (What is a mempool?)"),
        ("And what is gas?", "What is gas?"),
        ("And what is the cost?", "And what is the cost? (What is a mempool?)"),
    ],
)
def test_and_refers_to_the_question_before_it_where_a_passage_is_about_both(
    collection: Collection, scope: Scope, question: str, looked_up: str
) -> None:
    texts = [
        "A mempool keeps transactions that wait for a block.",
        "The default size of the mempools is 300 megabytes.",
        "The trapezoidal rule uses trapezoids to estimate an integral.",
    ]
    make_document(collection, texts)
    ingest_pipeline.index_words()
    understanding = understand(
        scope, f"What is a mempool? {question}", history=(), filter=Filter(), uses_llm=False
    )
    everywhere = understand_everywhere(scope, understanding, filter=Filter())
    for route in (understanding.route, everywhere.route):
        texts = [part.text for part in route.parts]
        assert [text.casefold() for text in texts] == ["what is a mempool?", looked_up.casefold()]


def test_a_question_never_becomes_longer_than_a_search_takes() -> None:
    assert len(rewrite("Why it? " + "x" * 990, [("What is " + "y" * 900 + "?", "")])) <= 1_000


pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]

SAID = {
    "Keeping the Time": (
        "The second is defined by the caesium atom. Pendulum clocks drift with the heat of "
        "the room."
    ),
    "How clocks are made": (
        "The second hand is pressed onto its post. Pendulum clocks are made of brass and steel."
    ),
    "Birds of the coast": "Puffins breed on cliffs. They dig burrows with their feet.",
}


def spoken(text: str) -> list[Cue]:
    return [
        Cue(n * 4_000, n * 4_000 + 4_000, f"{sentence.strip('. ')}.")
        for n, sentence in enumerate(text.split(". "))
    ]


@pytest.fixture
def library(collection: Collection) -> dict[str, int]:
    """Three ingested talks; their sources' keys by title."""
    for n, (title, text) in enumerate(SAID.items()):
        make_video(collection, key=f"talk-{n}", title=title, cues=spoken(text))
    return {source.title: source.pk for source in ingest_all()}


def written(collection: Collection, title: str, text: bytes) -> Source:
    added = document_storage.add(collection, BytesIO(text), name=f"{title}.md", title=title)
    ingest_pipeline.ingest(added.source.pk)
    return added.source


def looked_in(reply: Reply) -> set[int]:
    return {passage.source for passage in reply.trace.evidence}


def test_what_a_named_source_says_is_looked_for_there_alone_and_that_is_told(
    library: dict[str, int], scope: Scope
) -> None:
    assert len(looked_in(reply_to(scope, "What are pendulum clocks made of?"))) > 1
    question = "In the talk “How clocks are made”, what are pendulum clocks made of?"
    reply = reply_to(scope, question)
    assert looked_in(reply) == {library["How clocks are made"]}
    assert reply.outcome == AnswerOutcome.ANSWERED
    assert [part.text for part in reply.trace.route.parts] == ["What are pendulum clocks made of?"]
    assert reply.trace.notes == ("Looked only in “How clocks are made”, which the question names.",)
    assert reply.full_question == question


def test_a_title_that_stands_in_a_question_is_found_among_all_titles(
    library: dict[str, int], scope: Scope
) -> None:
    reply = reply_to(scope, "Summarise how clocks are made")
    assert looked_in(reply) == {library["How clocks are made"]}
    assert reply.trace.notes[0] == "Looked only in “How clocks are made”, which the question names."


def test_where_the_named_source_says_nothing_everything_is_looked_in_and_that_is_told(
    library: dict[str, int], scope: Scope
) -> None:
    reply = reply_to(scope, "In the talk “Birds of the coast”, what are pendulum clocks made of?")
    assert reply.outcome == AnswerOutcome.ANSWERED
    assert library["How clocks are made"] in looked_in(reply)
    assert reply.trace.notes[0] == (
        "Nothing that answers was found in “Birds of the coast”, which the question names; "
        "looked everywhere."
    )


def test_a_language_model_is_asked_again_with_what_is_found_everywhere_and_both_are_counted(
    library: dict[str, int], scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    def say(prompt: Any) -> str:
        return (
            "CLAIM: They are of brass.\nQUOTE [1]: Pendulum clocks are made of brass and steel."
            if "brass" in prompt.document
            else "NOT FOUND: clocks"
        )

    llm = FakeLlm(say)
    monkeypatch.setattr(registry, "llm", lambda: llm)
    reply = reply_to(scope, "In the talk “Keeping the Time”, what are pendulum clocks made of?")
    assert reply.outcome == AnswerOutcome.ANSWERED
    prompts = [prompt for prompt in llm.prompts if "caesium" in prompt.document]
    assert ["brass" in prompt.document for prompt in prompts] == [False, True]
    assert reply.trace.tokens["input"] == sum(map(prompt_tokens, prompts))


def test_the_only_document_or_recording_need_not_be_called_by_its_title(
    collection: Collection, scope: Scope
) -> None:
    title = "How clocks are made"
    for language in ("en", "de"):
        make_video(collection, key="talk", title=title, cues=spoken(SAID[title]), lang=language)
    ingest_all()
    text = b"Pendulum clocks were drawn by Huygens, who had seen none."
    paper = written(collection, "A history", text)
    talk = {source.pk for source in Source.objects.exclude(pk=paper.pk)}
    assert len(talk) == 2
    assert looked_in(reply_to(scope, "What does the book say about pendulum clocks?")) == {paper.pk}
    assert looked_in(reply_to(scope, "What is the book about?")) == {paper.pk}
    assert looked_in(reply_to(scope, "Was ist im Vortrag über pendulum clocks gesagt?")) >= {
        paper.pk
    }
    reply = reply_to(scope, "Of what are pendulum clocks made, as this talk has it?")
    assert looked_in(reply) <= talk
    assert reply.trace.notes[0] == "Looked only in “How clocks are made”, which the question names."
    written(collection, "Another", b"Pendulum clocks were drawn by nobody else, they say.")
    assert len(looked_in(reply_to(scope, "What does the book say about pendulum clocks?"))) > 1


def test_a_named_chapter_is_looked_for_alone_and_that_is_told(
    library: dict[str, int], collection: Collection, scope: Scope
) -> None:
    said = "Pendulum clocks are made of {} in this part of the book, which says no more on that. "
    text = "".join(
        f"# {number} On {metal}\n\n{said.format(metal) * 9}\n\n"
        for number, metal in enumerate(("brass", "steel", "silver"), 1)
    )
    book = written(collection, "On clocks", text.encode())
    reply = reply_to(scope, "What are pendulum clocks made of in chapter 2?")
    assert looked_in(reply) == {book.pk}
    assert all("steel" in passage.text for passage in reply.trace.evidence)
    assert reply.trace.notes[0] == (
        "Looked only in chapter 2 of “On clocks”, which the question names."
    )
    leaflet = "".join(f"# {n} Rods\n\nRods of clocks are long.\n\n" for n in range(1, 4))
    written(collection, "rods", leaflet.encode())
    summary = reply_to(scope, "Summarise chapter 3")
    assert {claim.text for claim in summary.claims}
    assert all("steel" not in claim.text for claim in summary.claims)
    assert len(looked_in(reply_to(scope, "What are pendulum clocks made of in chapter 7?"))) > 1


def test_sources_that_were_chosen_stay_chosen_whatever_is_named(
    library: dict[str, int], scope: Scope
) -> None:
    chosen = str(Source.objects.get(title="Birds of the coast").uuid)
    reply = reply_to(
        scope,
        "In the talk “How clocks are made”, what are pendulum clocks made of?",
        filter=Filter(sources=(chosen,)),
    )
    assert looked_in(reply) <= {library["Birds of the coast"]}
    assert not [note for note in reply.trace.notes if "names" in note]


def test_a_title_that_somebody_else_keeps_to_themselves_names_nothing(
    library: dict[str, int], scope: Scope
) -> None:
    hidden = Collection.objects.create(name="Private", slug="private")
    cues = spoken("Pendulum clocks are made of gold. Nobody may know.")
    make_video(hidden, key="hidden", title="Secret Clock Recipes", cues=cues)
    ingest_all()
    question = "In the talk “Secret Clock Recipes”, what are pendulum clocks made of?"
    reply = reply_to(scope, question)
    assert not [note for note in reply.trace.notes if "names" in note]
    assert looked_in(reply) <= set(library.values())
    both = Scope(readable=frozenset({hidden.pk, *scope.readable}))
    secret = Source.objects.get(title="Secret Clock Recipes")
    assert looked_in(reply_to(both, question)) == {secret.pk}
