"""Other chunks for a measurement: split as the settings say, measure, and undo all of it."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

from django.db import transaction

from citations.errors import SourceNotFound
from citations.evaluation.questions import Question
from citations.ingest import pipeline as ingest_pipeline
from citations.library.filters import Filter, matching
from citations.models import Source
from transcripts.core.scope import Scope


def sources_of(scope: Scope, questions: Sequence[Question], filter: Filter) -> frozenset[int]:
    """Return the primary keys of the sources that answer the questions."""
    keys: set[int] = set()
    for reference in {answer.source for question in questions for answer in question.answers}:
        with suppress(SourceNotFound):
            named = matching(scope, filter.model_copy(update={"sources": (reference,)}))
            keys |= {*named.values_list("pk", flat=True)}
    return frozenset(keys)


@contextmanager
def split_for_trial(keys: Iterable[int]) -> Iterator[None]:
    """Split and embed sources as the settings say, for this connection and until the block ends.

    One transaction that is never committed: other processes see nothing of it. Ingests of these
    sources, and the switch to another embedding model, wait until then.
    """
    with transaction.atomic():
        for source in Source.objects.filter(pk__in=[*keys]).order_by("pk"):
            ingest_pipeline.split_and_embed(source)
        try:
            yield
        finally:
            transaction.set_rollback(True)
