"""The library of this machine, in this process; a running server may use it at the same time."""

from typing import Any

from django.db import connections

from citations.answers import pipeline as answer_pipeline
from citations.answers.answer import FinalEvent
from citations.library.filters import Filter
from citations.quotes import verification
from citations.schemas.answers import QuoteCheckOut, ReplyOut
from citations.schemas.search import SearchOut
from citations.search import pipeline as search_pipeline
from kbsite.callers import everything
from kbsite.library.add_local import add_targets
from kbsite.library.add_options import AddOptions
from kbsite.library.base import Library
from kbsite.library.database import open_collection, open_database
from kbsite.library.progress import TaskProgress


class LocalLibrary(Library):
    """A data directory, or the database of DATABASE_URL, with the rights of its owner."""

    def __init__(self) -> None:
        open_database()

    def close(self) -> None:
        connections.close_all()

    def _add(self, target: str, collection: str, *, wait: bool, **about: Any) -> list[str]:
        options = AddOptions(**about, wait=wait)
        report = add_targets(open_collection(collection), [target], options, TaskProgress())
        if report.failure:
            raise report.failure
        return report.ids()

    def _search(self, query: str, filter: Filter, **options: Any) -> SearchOut:
        results = search_pipeline.search(
            everything(), query, filter=filter, **options, for_readers=True
        )
        return SearchOut.model_validate(results)

    def _ask(self, question: str, filter: Filter) -> ReplyOut:
        events = answer_pipeline.ask(everything(), question, filter=filter)
        (reply,) = (event.reply for event in events if isinstance(event, FinalEvent))
        return ReplyOut.model_validate(reply)

    def _verify(self, quote: str, source: str, filter: Filter) -> QuoteCheckOut:
        checked = verification.verify(everything(), quote, source=source, filter=filter)
        return QuoteCheckOut.model_validate(checked)
