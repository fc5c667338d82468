"""What a guide consists of: verbatim pieces of its source, each with its place. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from citations.passages import Locator, place

KINDS = ("about", "terms", "names", "numbers", "questions")


@dataclass(frozen=True, slots=True, kw_only=True)
class GuideItem:
    """A piece of the source's text, verbatim, and where it stands.

    ``label`` is what it is there for: a term, a name, a question; empty for a sentence alone. Of a
    term that the source does not define, ``text`` is empty, and the place is its first. ``link``
    opens the source there.
    """

    locator: Locator
    text: str = ""
    label: str = ""
    link: str = ""

    @property
    def span(self) -> tuple[int, int]:
        return self.locator.span

    @property
    def sentence(self) -> str:
        """The text on one line, with a capital: in its source it may follow a “so”."""
        flat = " ".join(self.text.split())
        return f"{flat[:1].upper()}{flat[1:]}"

    @property
    def title(self) -> str:
        return f"{self.label[:1].upper()}{self.label[1:]}"

    @property
    def place(self) -> str:
        return place(self.locator)

    def as_json(self) -> dict[str, Any]:
        """Return the fields to store."""
        return {"label": self.label, "text": self.text, **asdict(self.locator)}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "GuideItem":
        place = dict(stored)
        first, last = place.pop("span")
        text, label = place.pop("text"), place.pop("label")
        return cls(locator=Locator(span=(first, last), **place), text=text, label=label)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceGuide:
    """The guide to a source; each kind is empty where its source has nothing certain of it."""

    about: tuple[GuideItem, ...] = ()
    terms: tuple[GuideItem, ...] = ()
    names: tuple[GuideItem, ...] = ()
    numbers: tuple[GuideItem, ...] = ()
    questions: tuple[GuideItem, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not any(getattr(self, kind) for kind in KINDS)

    def as_json(self) -> dict[str, list[dict[str, Any]]]:
        return {kind: [item.as_json() for item in getattr(self, kind)] for kind in KINDS}

    @classmethod
    def from_json(cls, stored: Mapping[str, Sequence[Mapping[str, Any]]]) -> "SourceGuide":
        return cls(
            **{kind: tuple(map(GuideItem.from_json, stored.get(kind, ()))) for kind in KINDS}
        )
