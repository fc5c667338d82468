"""`kb sources`: the sources and their indexing state."""

from collections.abc import Iterable
from typing import Annotated

from citations.library import sources
from citations.library.filters import Filter
from citations.library.item import KINDS
from citations.library.sources import SourcePage
from citations.models import Source
from citations.schemas.search import SourcesOut
from citations.vectors import language_gap
from citations.vectors.language_gap import StateLabel
from kbsite.cli.options import InCollections, Json, Kinds, Limit, Many, Offset, argument, option
from kbsite.cli.terminal import note, note_next_page, print_json, table
from kbsite.library.database import open_library


def list_sources(
    words: Annotated[
        Many, argument("[WORDS]…", "Words in the title, author or recording's id.")
    ] = None,
    state: Annotated[
        str, option(metavar="STATE", help="Only pending, words, ready or failed.")
    ] = "",
    collection: InCollections = None,
    kind: Kinds = None,
    limit: Limit = 50,
    offset: Offset = 0,
    as_json: Json = False,
) -> None:
    """List the sources and their indexing state."""
    filter = Filter.model_validate({"collections": collection or (), "kinds": kind or ()})
    scope, text = open_library(), " ".join(words or ())
    page = sources.list_sources(scope, filter, words=text, state=state, offset=offset, limit=limit)
    if as_json:
        print_json(SourcesOut.model_validate(page))
    else:
        _print_sources(page)


def state_of(source: Source, label: StateLabel) -> str:
    """Return a source's state, as ``label`` says it, and its progress."""
    state = label(source.state, source.language)
    is_busy = source.step and source.total
    return f"{state} ({source.step}, {source.percent} %)" if is_busy else state


def note_language_gap(states: Iterable[str]) -> None:
    """Say what to do about sources that are found by words alone."""
    if language_gap.WORDS_ALONE in states:
        fetch, migrate = language_gap.COMMANDS
        note(
            "The model of meaning does not know some of these languages:"
            f" `{fetch}`, then `{migrate}` finds all by meaning, too."
        )


def kind_of(source: Source) -> str:
    """Return what people call the kind of a source."""
    return str(dict(KINDS)[source.shown_kind])


def _print_sources(page: SourcePage) -> None:
    """Print a table of sources, then their problems and the sources still being indexed."""
    label = language_gap.state_labels()
    columns = ("ID", "Title", "Kind", "Language", "State", "Chunks", "Collection")
    rows = (
        (
            source.uuid,
            source.title,
            kind_of(source),
            source.language,
            state_of(source, label),
            source.chunk_count,
            source.collection.name,
        )
        for source in page.sources
    )
    table(columns, rows, empty="No sources. Add one with `kb add`.", main="Title")
    note_language_gap(label(source.state, source.language) for source in page.sources)
    if page.counts.unfinished:
        note(f"{page.counts.unfinished} of {page.counts.total} are still being indexed.")
    for source in page.sources:
        if source.error:
            note(f"{source.title}: {source.error} {source.hint}".rstrip(), "yellow")
    note_next_page(page.total, page.next)
