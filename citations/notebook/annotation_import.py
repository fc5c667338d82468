"""Import annotations as highlights, in sources that the caller may read."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from django.contrib.auth.models import User

from citations.documents import storage as document_storage
from citations.errors import HiddenWordsNotFound, PassageNotFound, SourceNotRead
from citations.library.filters import Filter, matching
from citations.models import Source, State
from citations.notebook import highlights
from citations.notebook.highlights import KeptHighlight
from citations.notebook.web_annotations import Annotation
from transcripts.core.errors import KnowledgeBaseError
from transcripts.core.scope import Scope

MAX_ALIKE: Final = 5  # sources of one address: the languages of a video
NO_SOURCE: Final = "Its source is not in your library."
_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotPlaced:
    """An annotation that was not imported; ``number`` counts those of the file from 1.

    ``is_waiting``: its source is being indexed. Another import of the file, later, places it.
    """

    number: int
    quote: str
    reason: str
    is_waiting: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """How many highlights were made, changed, and there already as they are in the file;
    ``ignored`` annotations quote no text.
    """

    made: int = 0
    changed: int = 0
    unchanged: int = 0
    ignored: int = 0
    not_placed: tuple[NotPlaced, ...] = ()

    @property
    def waiting(self) -> list[NotPlaced]:
        return [each for each in self.not_placed if each.is_waiting]

    @property
    def lost(self) -> list[NotPlaced]:
        return [each for each in self.not_placed if not each.is_waiting]


def import_annotations(
    scope: Scope, user: User | None, annotations: list[Annotation], *, ignored: int = 0
) -> ImportReport:
    """Highlight what annotations quote, privately; a passage that is one already is changed."""
    kept: list[KeptHighlight] = []
    refused: list[NotPlaced] = []
    sources: dict[tuple[str, ...], list[Source]] = {}  # most annotations are of few
    for annotation in annotations:
        names = annotation.sources
        try:
            if names not in sources:
                sources[names] = [*_sources(scope, names)]
            kept.append(_keep(scope, user, annotation, sources[names]))
        except KnowledgeBaseError as error:
            refused.append(
                NotPlaced(
                    number=annotation.number,
                    quote=annotation.selected.exact[:200],
                    reason=error.message,
                    is_waiting=isinstance(error, SourceNotRead),
                )
            )
    made, changed = sum(each.is_new for each in kept), sum(each.is_changed for each in kept)
    return ImportReport(
        made=made,
        changed=changed,
        unchanged=len(kept) - made - changed,
        ignored=ignored,
        not_placed=tuple(refused),
    )


def _keep(
    scope: Scope, user: User | None, annotation: Annotation, sources: Iterable[Source]
) -> KeptHighlight:
    """Keep a passage in the first of its sources that has it.

    What is read so far may have the same words elsewhere, and another source may have them, too:
    the import after this would then find the right place, and make a second highlight there.
    """
    problem = PassageNotFound(NO_SOURCE)
    keep = partial(highlights.keep, start=annotation.start, page=annotation.page)
    for source in sources:
        if not document_storage.is_read(source) and source.state != State.FAILED:
            raise SourceNotRead
        try:
            return keep(scope, user, source, annotation.selected, annotation.notes)
        except HiddenWordsNotFound:  # another version of the text: a card of it hides others
            notes = replace(annotation.notes, hidden_words="")
            return keep(scope, user, source, annotation.selected, notes)
        except PassageNotFound as error:
            problem = error
    raise problem


def _sources(scope: Scope, names: Iterable[str]) -> Iterator[Source]:
    """Yield the sources that an annotation may mean: by id, by address, by that of YouTube."""
    details = ("collection", "video", "transcript")
    visible = Source.objects.visible(scope).select_related(*details)
    for name in names:
        if match := _ID.search(name):
            yield from visible.filter(uuid=match[0])
        yield from visible.filter(url=name).order_by("pk")[:MAX_ALIKE]
        if "youtu" in name:
            try:
                rows = matching(scope, Filter(sources=(name,))).select_related(*details)
                yield from rows.order_by("pk")[:MAX_ALIKE]
            except KnowledgeBaseError:
                continue
