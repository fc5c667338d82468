"""Which words of its sentence a card hides: the most telling ones, or what its reader chose."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from citations.errors import HiddenWordsNotFound
from citations.models import Highlight, Source
from citations.notebook import highlights
from citations.notebook.highlights import HighlightNotes, PlacedHighlight, SelectedText
from tests.makers import make_paper
from transcripts.core.scope import Scope
from transcripts.models import Collection

SAID = "Old oracles sign what an oracle saw in 1986."


@pytest.fixture
def book(collection: Collection) -> Source:
    return make_paper(collection, [f"It begins. {SAID} It ends.", "Each weight follows."])


@pytest.fixture
def card(scope: Scope, owner: User, book: Source) -> PlacedHighlight:
    notes = HighlightNotes(is_card=True)
    return highlights.keep(scope, owner, book, SelectedText(exact=SAID), notes).placed


def hidden_in(placed: PlacedHighlight) -> list[str]:
    return [text for text, is_hidden in placed.gap.parts if is_hidden]


def choose(scope: Scope, placed: PlacedHighlight, words: str) -> None:
    notes = HighlightNotes(is_card=True, hidden_words=words)
    highlights.change(scope, placed.row, notes)


def test_a_card_hides_its_most_telling_words_until_its_reader_chooses_others(
    scope: Scope, card: PlacedHighlight
) -> None:
    assert (hidden_in(card), card.gap.words) == (["1986"], "1986")
    assert card.gap.sentence == SAID
    assert "".join(text for text, _ in card.gap.parts) == SAID
    choose(scope, card, "  SIGN   what ")
    assert (hidden_in(card), card.row.hidden_words) == (["sign what"], "sign what")
    choose(scope, card, "")
    assert hidden_in(card) == ["1986"]


def test_the_other_forms_of_words_that_were_chosen_are_hidden_too(
    scope: Scope, card: PlacedHighlight
) -> None:
    choose(scope, card, "oracle")
    assert hidden_in(card) == ["oracles", "oracle"]
    assert card.gap.words == "oracle"


def test_words_that_are_hidden_anyway_stay_chosen_automatically(
    scope: Scope, card: PlacedHighlight
) -> None:
    choose(scope, card, "1986")
    assert card.row.hidden_words == ""


@pytest.mark.parametrize("words", ["weight", "It begins", "sign it", "x" * 500])
def test_words_that_the_sentence_does_not_have_are_refused_and_nothing_changes(
    scope: Scope, card: PlacedHighlight, words: str
) -> None:
    choose(scope, card, "saw")
    with pytest.raises(HiddenWordsNotFound, match="does not have the words") as refused:
        choose(scope, card, words)
    assert "leave the field empty" in refused.value.hint
    card.row.refresh_from_db()
    assert card.row.hidden_words == "saw"


def test_a_new_highlight_hides_words_of_its_own_sentence_alone(
    scope: Scope, owner: User, book: Source
) -> None:
    def keep(words: str) -> Any:
        notes = HighlightNotes(is_card=True, hidden_words=words)
        return highlights.keep(scope, owner, book, SelectedText(exact="Each weight"), notes)

    with pytest.raises(HiddenWordsNotFound):
        keep("oracle")
    assert not Highlight.objects.exists()
    assert hidden_in(keep("follows").placed) == ["follows"]


def test_words_that_a_changed_source_has_lost_give_way_to_the_most_telling_ones(
    card: PlacedHighlight,
) -> None:
    card.row.hidden_words = "prophets"
    assert hidden_in(card) == ["1986"]


def test_a_lost_highlight_hides_words_of_the_text_that_was_stored(card: PlacedHighlight) -> None:
    card.row.hidden_words = "saw"
    lost = PlacedHighlight(row=card.row, locator=None)
    assert hidden_in(lost) == ["saw"]
    assert SAID in lost.gap.sentence
