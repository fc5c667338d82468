"""Sentences are rated by an embedding model, or by their words where it cannot."""

from collections.abc import Sequence

from citations.answers.writers import SentenceRater
from citations.errors import ModelError
from citations.providers.embedding import DocumentVectors, HashEmbedder


class OneRefused(HashEmbedder):
    def embed_documents(self, texts: Sequence[str]) -> DocumentVectors:
        vectors = super().embed_documents(texts[1:]).view(DocumentVectors)
        vectors.faults = {0: ModelError("The first is too long.")}
        return vectors


def test_where_a_server_refuses_a_sentence_words_decide_and_a_note_says_why() -> None:
    rater = SentenceRater(OneRefused(model="m", dimensions=8))
    assert rater("Why?", ["One.", "Two."]) is None
    assert rater.notes == ["Sentences were chosen by their words: The first is too long."]
