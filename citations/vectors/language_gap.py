"""Tell when sources, or a question, are in languages that the embedding model was not made for."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from django.db.models import Count

from citations.models import SourceQuerySet, State
from citations.providers import languages, weights
from citations.vectors import space as vector_space
from transcripts.core.languages import name_of
from transcripts.text.stemming import primary_language

WORDS_ALONE: Final = "found by words alone"
WORTH: Final = 0.1  # share of the sources from which another model is recommended
MIN_SOURCES: Final = 2  # sources; one may be an exception
LANGUAGE_NOTE: Final = (
    "Most sources are in other languages than this question, and the embedding model compares texts"
    " of one language: ask in the language of the sources, too."
)
MULTILINGUAL: Final = "e5-small"  # the provider whose model is recommended
COMMANDS: Final = (
    f"kb models fetch {MULTILINGUAL}",
    f"kb db migrate-embeddings --to {MULTILINGUAL}",
)

StateLabel: TypeAlias = Callable[[str, str], str]  # of a source's state and language


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageGap:
    """How many sources are in other ``languages`` (commonest first) than the model's only one."""

    model: str
    sources: int
    total: int
    languages: Sequence[str]

    @property
    def names(self) -> list[str]:
        """What the languages are called."""
        return [name_of(code) for code in self.languages]

    @property
    def commands(self) -> tuple[str, str]:
        """What closes the gap, in this order."""
        return COMMANDS


def find(among: SourceQuerySet) -> LanguageGap | None:
    """Return the gap of the model in force, None if there is none worth a migration.

    Sources of unknown language count as fitting.
    """
    space = vector_space.locked()
    own = weights.language_of(space.model) if space else ""
    if space is None or not own:
        return None
    counts: dict[str, int] = {}
    tags = among.order_by().values_list("language").annotate(Count("pk"))
    for tag, count in tags:
        code = primary_language(tag) or own
        counts[code] = counts.get(code, 0) + count
    total = sum(counts.values())
    others = {code: count for code, count in counts.items() if code != own}
    if sum(others.values()) < max(MIN_SOURCES, WORTH * total):
        return None
    return LanguageGap(
        model=space.model,
        sources=sum(others.values()),
        total=total,
        languages=sorted(others, key=lambda code: (-others[code], code)),
    )


def state_labels() -> StateLabel:
    """Return a function that says how sources are found: by words alone in languages that the model
    in force does not know. Sources of unknown language count as fitting.
    """
    space = vector_space.locked()
    own = weights.language_of(space.model) if space else ""

    def label(state: str, tag: str) -> str:
        is_foreign = own and (primary_language(tag) or own) != own
        return WORDS_ALONE if is_foreign and state == State.READY else str(State(state).label)

    return label


def advice(question: str, among: SourceQuerySet) -> str:
    """Return what to do if a question is surely in a language that most sources are not in; ""
    where the model compares texts of several languages.
    """
    space = vector_space.locked()
    if space is None or not weights.language_of(space.model):
        return ""
    counts = Counter[str]()
    for tag, count in (
        among.order_by().exclude(language="").values_list("language").annotate(Count("pk"))
    ):
        counts[primary_language(tag)] += count
    code, probability = next(iter(languages.probabilities(question).items()), ("", 0.0))
    is_foreign = 2 * counts[code] < counts.total() and probability >= languages.SURE
    return LANGUAGE_NOTE if is_foreign else ""
