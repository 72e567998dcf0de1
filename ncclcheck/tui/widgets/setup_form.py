"""What can be chosen before a setup begins: a line each, all at their usual value, so that Enter alone goes on."""

from __future__ import annotations

import re
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from ncclcheck.tui import content
from ncclcheck.tui.setup.values import Asked, Beginning, FormState, Guided, Invited, PlaceView, Wanted
from ncclcheck.tui.widgets.choice import LABEL, Choice, Value
from ncclcheck.tui.widgets.field import Field
from ncclcheck.tui.wording import Tone

SCRIPT = "train.py"
_NODES = tuple((str(number), str(number)) for number in range(2, 65))
_ANEW = ("anew", "begin anew")
_FIRST = ("invite", "is the first one: it invites the other")
_OTHER = ("paste", "is another one: paste the line of the first node, here or anywhere")


class SetupForm(Vertical):
    """The choices, with what the chosen place is about below them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "app.focus_previous", show=False, id="form.up", tooltip="The choice above"),
        Binding("down", "app.focus_next", show=False, id="form.down", tooltip="The choice below"),
    ]
    DEFAULT_CSS = """
    SetupForm {
        .row { height: 1; }
        .row > Static { width: auto; }
        .row > Field { width: 1fr; }
        #questions { height: auto; }
        #about { height: 1fr; margin-top: 1; padding: 0 2; scrollbar-size-vertical: 1; }
        #about-text { height: auto; }
        &.-kept .anew { display: none; }
        &.-joins .first { display: none; }
        &.-fresh #way { display: none; }
    }
    """

    class Changed(Message):
        """Something was chosen or typed."""

    class Submitted(Message):
        """Somebody pressed Enter in a line of text."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._shown: tuple[Beginning | None, Invited | None] = (None, None)

    def compose(self) -> ComposeResult:
        """A line each."""
        yield Choice("This setup", id="way")
        yield Choice("The nodes are", id="place", classes="anew")
        yield Choice("This node", id="side", classes="anew")
        yield Choice("How many", _NODES, id="count", classes="anew first")
        yield Choice("Started by", id="launcher", classes="anew first")
        with Horizontal(classes="row anew first"):
            yield _label("Your script")
            yield Field(SCRIPT, id="script")
        yield Vertical(id="questions", classes="anew first")
        with VerticalScroll(id="about", can_focus=False):
            yield Static(id="about-text", markup=False)

    # What is offered -------------------------------------------------------------------------------------------------

    def offer(self, guided: Guided) -> None:
        """Show these choices; what somebody has chosen stays while they are the same."""
        if self._shown == (guided.beginning, guided.invited):
            return
        self._shown = guided.beginning, guided.invited
        begin = guided.beginning or Beginning()
        kept = begin.kept if not guided.invited else None
        ways = (("resume", f"take up again: {kept.told}"), _ANEW) if kept else (_ANEW,)
        self.query_one("#way", Choice).offer(ways, 1 if kept and kept.complete else 0)
        self.query_one("#place", Choice).offer(tuple((place.name, place.title) for place in begin.places))
        self.query_one("#side", Choice).offer(_sides(guided.invited))
        self.query_one("#launcher", Choice).offer(begin.launchers)
        self.set_class(kept is None, "-fresh")
        self._settle()

    def take_focus(self) -> None:
        """Begin with the first line, unless another one is in hand."""
        focused = self.screen.focused
        if focused is None or self not in focused.ancestors or not focused.display:
            self.query_one("#place" if self.has_class("-fresh") else "#way", Choice).focus()

    def on_choice_changed(self) -> None:
        """What hangs on a choice."""
        self._settle()
        self.post_message(self.Changed())

    def _settle(self) -> None:
        self.set_class(self.query_one("#way", Choice).value == "resume", "-kept")
        self.set_class(self._side == "join", "-joins")
        place = self._place
        told = place.told if place and not self.has_class("-kept") else ()
        about = content.lines(content.piece(text, tone) for text, tone in told)
        self.query_one("#about-text", Static).update(about)
        self.call_next(self._ask, place)

    async def _ask(self, place: PlaceView | None) -> None:
        """The place's own questions; all may stay open."""
        questions = self.query_one("#questions", Vertical)
        rows = [self._question(number, asked.question, asked.example) for number, asked in enumerate(_asked(place))]
        await questions.remove_children()
        await questions.mount_all(rows)

    def _question(self, number: int, question: str, example: str) -> Horizontal:
        field = Field(placeholder=f"such as {example}", id=f"answer-{number}")
        return Horizontal(_label(question), field, classes="row")

    @property
    def _side(self) -> str:
        return self.query_one("#side", Choice).value

    # What was chosen -------------------------------------------------------------------------------------------------

    @property
    def _place(self) -> PlaceView | None:
        chosen = self.query_one("#place", Choice).value
        beginning = self._shown[0]
        return next((place for place in beginning.places if place.name == chosen), None) if beginning else None

    @property
    def state(self) -> FormState:
        """Whether it can begin, and how."""
        return FormState(resumes=True) if self.has_class("-kept") else FormState(self._problem)

    @property
    def _problem(self) -> str:
        invited = self._shown[1]
        if self._side == "join" and invited is not None and invited.options is None:
            return f"{invited.told}. Copy the whole line, and paste it again."
        if self._side == _OTHER[0]:
            return "Paste the line that the first node shows, here or anywhere."
        for asked, said in self._typed:
            if said and not re.fullmatch(asked.pattern, said):
                return f"“{said}” does not look like {asked.example}. It may also stay empty."
        return ""

    @property
    def wanted(self) -> Wanted:
        """All of it; the usual place is left to be guessed, so that its signs are told."""
        if self.has_class("-kept"):
            return Wanted(resume=True)
        place = self.query_one("#place", Choice)
        return Wanted(
            place="" if place.usual else place.value,
            launcher=self.query_one("#launcher", Choice).value,
            nodes=int(self.query_one("#count", Choice).value),
            script=self.query_one("#script", Field).value.strip() or SCRIPT,
            answers={asked.name: said for asked, said in self._typed if said},
            invited=self._shown[1] if self._side == "join" else None,
        )

    @property
    def _typed(self) -> list[tuple[Asked, str]]:
        """The place's questions with what was answered."""
        fields = self.query("#questions Field").results(Field)
        return [(asked, field.value.strip()) for asked, field in zip(_asked(self._place), fields, strict=False)]

    def on_input_changed(self) -> None:
        """What is said about it changes too."""
        self.post_message(self.Changed())

    def on_input_submitted(self, event: Field.Submitted) -> None:
        """Enter goes on from here as well."""
        event.stop()
        self.post_message(self.Submitted())


def _sides(invited: Invited | None) -> tuple[Value, ...]:
    if invited is None:
        return (_FIRST, _OTHER)
    joins = (
        f"joins the first one: {invited.told}" if invited.options else "joins the first one, but this is not its line"
    )
    return (("join", joins), _FIRST)


def _asked(place: PlaceView | None) -> tuple[Asked, ...]:
    return place.questions if place else ()


def _label(text: str) -> Static:
    return Static(Content.assemble("  ", content.piece(f"{text:<{LABEL}} ", Tone.MUTED)), markup=False)
