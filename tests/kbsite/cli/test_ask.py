"""ask, and what `kb tui` shows of a library."""

import sys
from uuid import UUID

import pytest

from citations.answers.answer import Quote
from citations.ingest import discovery
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Source
from citations.passages import Locator, PassageSource
from citations.schemas.answers import QuotationOut, TracedReplyOut
from kbsite.cli.tui import Adder, LibraryNotebook
from kbsite.library.local import LocalLibrary
from kbsite.tui.turns import cited
from tests.kbsite.cli.conftest import Kb
from tests.makers import make_document, make_video
from transcripts.core.errors import KnowledgeBaseError
from transcripts.models import Collection
from transcripts.text.cues import Cue

pytestmark = pytest.mark.usefixtures("fake_models")

QUESTION = "What does the governor of a turbine keep even?"


def test_nothing_in_the_library_is_a_refusal(kb: Kb, library: Collection) -> None:
    refused = kb("ask", QUESTION)
    assert "I cannot find information about" in refused.out
    assert "nothing was made up" in refused.err
    answer = kb("ask", QUESTION, "--json", "--trace").json
    assert (answer["state"], answer["claims"], answer["citations"]) == ("refused", [], [])
    assert answer["trace"]["parts"]
    followed = kb("ask", "And why?", "--follow-up", "--json").json
    assert followed["conversation_id"] == answer["conversation_id"]


def test_claims_beside_the_first_three_stand_under_a_line(kb: Kb, library: Collection) -> None:
    for number, sentence in enumerate(
        (
            "Insects have six legs, as biologists counted again.",
            "Insects that dig have broad legs like shovels.",
            "Insects that swim have legs fringed by hairs.",
            "Insects that jump have strong legs behind.",
        )
    ):
        make_video(library, key=f"{number}", title=f"{number}", cues=[Cue(0, 5_000, sentence)])
    discovery.adopt()
    for source in Source.objects.all():
        ingest_pipeline.ingest(source.pk)
    output = kb("ask", "Why do insects have legs?").out
    first, line, rest = output.partition("More from the sources:")
    assert line
    assert all(first.count(f"[{number}]") == 1 for number in (1, 2, 3))
    assert "[4]" in rest.partition("[1]")[0]


def test_of_several_questions_each_is_a_heading_and_what_was_not_ready_is_said(
    kb: Kb, library: Collection
) -> None:
    said = "Insects have six legs, as biologists counted again."
    monks = "Old books of monks claimed that insects have eight legs."
    for key, sentence in (("a", said), ("m", monks)):
        make_video(library, key=key, title=key, cues=[Cue(0, 5_000, sentence)])
    discovery.adopt()
    for source in Source.objects.all():
        ingest_pipeline.ingest(source.pk)
    make_video(library, key="b", title="Later", cues=[Cue(0, 5_000, "Soup.")])
    discovery.adopt()
    question, other = "How many legs do insects have?", "When does the ship to Peru sail?"
    output = kb("ask", f"{other} {question}").out
    first = output.partition(f"{question}\n")[2].partition("\n")[0]
    assert first in (f"{said} [1]", f"{monks} [1]")
    refusal = "The sources do not answer this question.\nThe sources do not mention Peru.\n"
    assert output.count(f"{other}\n{refusal}") == 1
    assert output.count("Peru") == 2
    assert "not ready yet when this was asked: “Later”" in output


def test_a_greeting_gets_help(kb: Kb, library: Collection) -> None:
    make_document(library, ["The governor keeps the speed even."], title="Turbines")
    helped = kb("ask", "hello")
    assert "Ask about what is said in 1 document: “Turbines”." in helped.out
    assert "made up" not in helped.err
    assert kb("ask", "Thanks!", "--json").json["state"] == "help"


def test_the_notebook_lists_asks_and_goes_on(kb: Kb, library: Collection) -> None:
    document = make_document(library, ["The governor keeps the speed even."], title="Turbines")
    notebook = LibraryNotebook(LocalLibrary())
    assert [source.title for source in notebook.list_sources().sources] == ["Turbines"]
    assert notebook.list_sources("nothing").total == 0
    steps = list(notebook.ask(QUESTION, (str(document.uuid),)))
    assert sum(isinstance(step, TracedReplyOut) for step in steps) == 1
    (earlier,) = notebook.earlier_conversations()
    assert earlier.title == QUESTION
    (turn,) = notebook.resume(earlier.id)
    assert (turn.question, turn.is_running) == (QUESTION, False)
    notebook.start_conversation()
    list(notebook.ask("And then?"))
    assert len(notebook.earlier_conversations()) == 2
    with pytest.raises(KnowledgeBaseError):
        list(notebook.ask("!"))


def test_a_place_opens_on_youtube_and_here(kb: Kb) -> None:
    origin = PassageSource(
        id=UUID(int=1), kind="video", title="T", url="https://www.youtube.com/watch?v=dQw4w9WgXcQ"
    )
    quote = Quote(
        number=1,
        source=1,
        origin=origin,
        locator=Locator(span=(0, 1), start=12_500),
        text="t",
        prefix="",
        suffix="",
        digest="d",
        link="/videos/1/?t=12s",
    )
    shown = cited(QuotationOut.model_validate(quote))
    links = {link.url for link in LibraryNotebook(LocalLibrary()).links(shown)}
    assert "https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=12s" in links
    assert any(url.endswith("/videos/1/?t=12s") for url in links)


REPORT = '{"videos": [{"id": "talk"}], "documents": [], "jobs": [], "problems": []}'
PROBLEM = '{"message": "It is broken.", "hint": "Mend it."}'
EMPTY = REPORT.replace('{"id": "talk"}', "")
REFUSED = EMPTY.replace("[]}", f"[{PROBLEM}]}}")
BROKEN = EMPTY.replace(
    '"documents": []',
    '"documents": [{"source": {"state": "failed", "error": "It has no pages.", "hint": ""}}]',
)


def adder(code: str) -> Adder:
    return Adder(command=(sys.executable, "-c", code))


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (f"print('''{REFUSED}''')", "It is broken"),
        (f"print('''{BROKEN}''')", "It has no pages"),
        ("import sys; sys.exit('Error: No room.')", "No room"),
    ],
    ids=["a problem", "an unreadable document", "a failure"],
)
def test_what_was_not_added_rises(code: str, reason: str) -> None:
    with pytest.raises(KnowledgeBaseError, match=reason):
        adder(code).add("talk.vtt")


def test_what_was_added_is_told_until_the_program_closes() -> None:
    assert adder(f"print('''{REPORT}''')").add("talk.vtt") == "Added 1: talk.vtt"
    closed = Adder()
    closed.close()
    with pytest.raises(KnowledgeBaseError):
        closed.add("talk.vtt")
