"""The sentence of a passage that has the words of a query: there a hit begins, on every door."""

from citations.providers.languages import empty_words, telling_words
from citations.text.snippets import nearest_sentence
from transcripts.stemming import stems
from transcripts.tokenizer import matched_spans, tokenize


def with_words(text: str, query: str, language: str) -> tuple[int, int] | None:
    """Return the characters of the sentence with most of a query's words; None if it has none."""
    if not matched_spans(text, query, language):
        return None
    return nearest_sentence(text, query, language, stops=empty_words(language))


def has_all_words(text: str, query: str, language: str) -> bool:
    """Tell whether a text has every telling word of a query, in whatever form."""
    wanted = set(stems(telling_words(query, language).split(), language))
    return bool(wanted) and wanted <= set(stems(tokenize(text), language))
