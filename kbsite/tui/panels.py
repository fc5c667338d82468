"""The three panels: the sources with their boxes, the conversation, the details of what is chosen."""

import re
from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from citations.passages import place as written_place
from kbsite.tui.notebook import Link, ListedSource, SourceList
from kbsite.tui.places import QuoteInContext
from kbsite.tui.turns import Turn, printable, written

WELCOME = """\
Ask a question below. Answers are made of your sources, and every quote in them was found there word for word.

Tab goes from panel to panel, F1 lists the keys."""
NO_SOURCES = (
    "Nothing is here yet.\n\nPress a (outside the question) to add a video, a document or a folder."
)
NOTHING_CHOSEN = "n and p walk through an answer’s citations; each is shown here."


class SourcesPanel(OptionList):
    """The sources; questions go to the ticked ones, or to all when none is ticked."""

    BORDER_TITLE = "SourcesPanel"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "select", "Tick", show=False)]

    class Ticked(Message):
        """Others are asked from now on."""

    def __init__(self) -> None:
        super().__init__(id="sources", markup=False)
        self._listed: dict[str, ListedSource] = {}
        self._ticked: dict[str, None] = {}

    def show(self, shelf: SourceList) -> None:
        """Bring the list up to date; what is ticked stays so, shown or not, and the cursor stays where it is."""
        before, self._listed = self._listed, {one.id: one for one in shelf.sources}
        if list(before) == list(self._listed):
            for one in shelf.sources:
                if one != before[one.id]:
                    self._redraw(one.id)
        else:
            self._rebuild()
        self.border_subtitle = _counted(shelf)

    @property
    def current(self) -> ListedSource | None:
        """Return the source under the cursor."""
        option = self.highlighted_option
        return self._listed.get(option.id or "") if option else None

    @property
    def ticked(self) -> tuple[str, ...]:
        """Return the ids of the sources that are asked; none: all."""
        return tuple(self._ticked)

    def tick(self, key: str) -> None:
        """Tick a source, or take its tick away."""
        if key in self._ticked:
            del self._ticked[key]
        else:
            self._ticked[key] = None
        self._redraw(key)
        self.post_message(self.Ticked())

    def _redraw(self, key: str) -> None:
        self.replace_option_prompt(key, _row(self._listed[key], is_ticked=key in self._ticked))

    def _rebuild(self) -> None:
        current = self.highlighted_option
        self.set_options(
            Option(_row(one, is_ticked=key in self._ticked), id=key)
            for key, one in self._listed.items()
        )
        if current is not None and current.id in self._listed:
            self.highlighted = self.get_option_index(current.id)
        elif self._listed:
            self.highlighted = 0


class TurnView(Static):
    """A question and its answer."""

    def __init__(self, turn: Turn) -> None:
        super().__init__(written(turn))
        self.turn = turn

    def draw(self, chosen: QuoteInContext | None = None) -> None:
        """Write it anew."""
        self.update(written(self.turn, chosen))


class ConversationPanel(VerticalScroll):
    """What was asked and answered, and which citation is chosen."""

    ALLOW_MAXIMIZE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "app.walk(1)", "Next citation", show=False),
        Binding("left", "app.walk(-1)", "Citation before", show=False),
        Binding("enter", "app.open_link", "Open", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(Static(WELCOME, id="welcome", markup=False), id="conversation")
        self._chosen: tuple[TurnView, int] | None = None

    def begin(self, turns: Sequence[Turn] = ()) -> None:
        """Leave what is shown for these turns."""
        self._chosen = None
        self.remove_children(TurnView)
        self.query_one("#welcome").display = not turns
        self.mount_all(TurnView(turn) for turn in turns)
        self.scroll_end(animate=False)

    def add(self, turn: Turn) -> TurnView:
        """Show one more question."""
        self.query_one("#welcome").display = False
        view = TurnView(turn)
        self.mount(view)
        self.call_after_refresh(self.scroll_end, animate=False)
        return view

    def draw(self, view: TurnView) -> None:
        """Show what came in for a turn: its question stays in sight, and its first citation is chosen once it is there."""
        if view.turn.places and not (self._chosen and self._chosen[0] is view):
            self._choose(view, 0)
        view.draw(self.chosen if self._chosen and self._chosen[0] is view else None)
        self.call_after_refresh(self.scroll_to_widget, view, animate=False, top=True)

    @property
    def chosen(self) -> QuoteInContext | None:
        """Return the place that is chosen."""
        if self._chosen is None:
            return None
        view, index = self._chosen
        return view.turn.places[index] if index < len(view.turn.places) else None

    @property
    def current(self) -> Turn | None:
        """Return the turn whose citation is chosen, or the last one."""
        if self._chosen is not None:
            return self._chosen[0].turn
        views = list(self.query(TurnView))
        return views[-1].turn if views else None

    def walk(self, step: int) -> QuoteInContext | None:
        """Choose the next place or the one before, through all turns, and stop at the ends; return it."""
        places = [
            (view, index) for view in self.query(TurnView) for index in range(len(view.turn.places))
        ]
        if not places:
            return None
        at = places.index(self._chosen) + step if self._chosen in places else len(places) - 1
        self._choose(*places[max(0, min(at, len(places) - 1))])
        return self.chosen

    def pick(self, label: str) -> QuoteInContext | None:
        """Choose a place of the current turn by its number or letter; return it, None where there is none such."""
        view = self._chosen[0] if self._chosen else next(reversed(self.query(TurnView)), None)
        labels = [place.label for place in view.turn.places] if view else []
        if view is None or label not in labels:
            return None
        self._choose(view, labels.index(label))
        return self.chosen

    def _choose(self, view: TurnView, index: int) -> None:
        before, self._chosen = self._chosen, (view, index)
        if before is not None and before[0] is not view:
            before[0].draw()
            self.scroll_to_widget(view, animate=False)
        view.draw(self.chosen)


class Talk(Vertical):
    """The conversation, and below it the question."""

    BORDER_TITLE = "ConversationPanel"
    ALLOW_MAXIMIZE = True


class Details(VerticalScroll):
    """What is known of a citation, or of a source."""

    BORDER_TITLE = "Details"
    ALLOW_MAXIMIZE = True

    def __init__(self) -> None:
        super().__init__(Static(NOTHING_CHOSEN, markup=False), id="details")

    def show_place(self, place: QuoteInContext, links: Sequence[Link]) -> None:
        """Show a quote within what stands around it, where that is, and what opens it."""
        origin = place.origin
        around = Content.assemble(
            Content.styled(f"… {_from_word(_flat(place.prefix))}" if place.prefix else "", "dim"),
            Content.styled(_flat(place.text), "bold"),
            Content.styled(f"{_to_word(_flat(place.suffix))} …" if place.suffix else "", "dim"),
        )
        head = Content.styled(
            f"[{place.label}] {_flat(origin.title)}", "bold $primary"
        ) + Content.styled(f"  {written_place(place.locator)}", "dim")
        about = Content.styled(
            " · ".join(part for part in (_flat(place.heading), _flat(origin.author)) if part), "dim"
        )
        self._show(
            [
                head,
                around,
                *(Content.styled(f"{link.label}: {link.url}", "dim") for link in links),
                about,
            ]
        )

    def show_source(self, one: ListedSource) -> None:
        """Show a source's title in full, how far it is indexed, and what went wrong."""
        parts = [
            Content.styled(printable(one.title), "bold $primary"),
            Content.styled(printable(one.about), "dim"),
        ]
        if one.progress:
            parts.append(Content(printable(one.progress)))
        if one.problem:
            parts.append(Content.styled(printable(one.problem), "$error"))
        self._show(parts)

    def show_note(self, text: str) -> None:
        """Show a sentence."""
        self._show([Content.styled(text, "dim")])

    def _show(self, parts: Sequence[Content]) -> None:
        self.query_one(Static).update(Content("\n").join([part for part in parts if part.plain]))
        self.scroll_home(animate=False)


def _flat(text: str) -> str:
    """Return text as one paragraph; blanks at its ends stay, for they stand between it and what it is put beside."""
    return re.sub(r"\s+", " ", printable(text))


def _from_word(text: str) -> str:
    """Return text without the rest of a word that it may begin within."""
    rest, blank, whole = text.partition(" ")
    return whole if blank and rest.islower() else text.lstrip()


def _to_word(text: str) -> str:
    """Return text without the part of a word that it may end within."""
    whole, blank, rest = text.rpartition(" ")
    return whole if blank and rest.isalnum() else text.rstrip()


def _row(one: ListedSource, *, is_ticked: bool) -> Content:
    box = Content.styled("[x] " if is_ticked else "[ ] ", "bold" if is_ticked else "dim")
    title = (
        Content(_flat(one.title))
        if not one.mark
        else Content.styled(f"{_flat(one.mark)} ", "dim") + Content(_flat(one.title))
    )
    if one.problem:
        return box + Content.styled("! ", "$error") + title
    if one.progress:
        return box + Content.styled(f"{printable(one.progress)} ", "$accent") + title
    return box + title if one.is_ready else box + Content.styled("… ", "dim") + title


def _counted(shelf: SourceList) -> str:
    shown = len(shelf.sources)
    parts = [f"{shown} of {shelf.total:,}" if shown < shelf.total else f"{shelf.total:,}"]
    if shelf.unfinished:
        parts.append(f"{shelf.unfinished:,} on the way")
    return " · ".join(parts)
