"""The library of this machine, in this process; a running server may use it at the same time."""

import os
from collections.abc import Sequence

from django.db import connections

from citations.answers import pipeline as answer_pipeline
from citations.answers.answer import FinalEvent
from citations.library.filters import Filter
from citations.passages import SearchMode
from citations.quotes import verification
from citations.schemas.answers import QuoteCheckOut, ReplyOut
from citations.schemas.search import SearchOut
from citations.search import pipeline as search_pipeline
from kbsite.auth import everything
from kbsite.cli.add import AddOptions, add_targets
from kbsite.cli.database import open_collection, open_database
from kbsite.client.base import Library, Mode, Target, error_of


class LocalLibrary(Library):
    """A data directory, or the database of DATABASE_URL, with the rights of its owner."""

    def __init__(self) -> None:
        open_database()

    def add(
        self,
        target: Target,
        *,
        collection: str = "",
        title: str = "",
        language: str = "",
        tags: Sequence[str] = (),
        wait: bool = True,
    ) -> list[str]:
        options = AddOptions(
            tags=tuple(tags), language=language, title=title, wait=wait, quiet=True
        )
        report = add_targets(open_collection(collection), [os.fspath(target)], options)
        for problem in report.problems if report.exit_code else ():
            raise error_of(problem.code, problem.message, problem.hint)
        return report.ids()

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        mode: Mode = "hybrid",
        collections: Sequence[str] = (),
        sources: Sequence[str] = (),
        explain: bool = False,
    ) -> SearchOut:
        results = search_pipeline.search(
            everything(),
            query,
            mode=SearchMode(mode),
            limit=limit,
            filter=Filter(collections=tuple(collections), sources=tuple(sources)),
            explain=explain,
            for_readers=True,
        )
        return SearchOut.model_validate(results)

    def ask(self, question: str, *, collection: str = "", sources: Sequence[str] = ()) -> ReplyOut:
        collections = (collection,) if collection else ()
        filter = Filter(collections=collections, sources=tuple(sources))
        events = answer_pipeline.ask(everything(), question, filter=filter)
        (reply,) = (event.reply for event in events if isinstance(event, FinalEvent))
        return ReplyOut.model_validate(reply)

    def verify(self, quote: str, *, source: str = "") -> QuoteCheckOut:
        checked = verification.verify(everything(), quote, source=source)
        return QuoteCheckOut.model_validate(checked)

    def close(self) -> None:
        connections.close_all()
