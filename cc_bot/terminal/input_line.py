"""The line that a person types into."""

from collections.abc import Callable, Sequence

from prompt_toolkit import PromptSession
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.completion import Completer
from prompt_toolkit.formatted_text import AnyFormattedText
from prompt_toolkit.history import History
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import Output
from prompt_toolkit.styles import Style
from prompt_toolkit.utils import get_cwidth

from cc_bot.terminal.printable import one_line
from cc_bot.texts import Texts

_STYLE = Style.from_dict(
    {"mark": "ansicyan bold", "attached": "ansigray", "bottom-toolbar": "noreverse ansigray"}
)


class InputLine:
    """Reads lines: Enter sends, Alt+Enter starts a new line, Ctrl-C clears, Ctrl-D on an empty line ends."""

    def __init__(
        self,
        completer: Completer,
        history: History,
        *,
        input: Input | None = None,  # noqa: A002 - as prompt_toolkit names it
        output: Output | None = None,
    ) -> None:
        self._session: PromptSession[str] = PromptSession(
            completer=completer,
            history=history,
            multiline=True,
            complete_while_typing=True,
            key_bindings=_keys(),
            prompt_continuation="  ",
            reserve_space_for_menu=6,
            style=_STYLE,
            include_default_pygments_style=False,
            input=input,
            output=output,
        )

    async def read(self, words: Texts, attached: Sequence[str]) -> str | None:
        """The next line; None when there will be none."""
        columns = self._session.output.get_size().columns
        try:
            return await self._session.prompt_async(
                _prompt(attached), bottom_toolbar=[("", hint(words, columns))]
            )
        except EOFError:
            return None

    async def above(self, show: Callable[[], None]) -> None:
        """Have something printed above the line that is being typed, if any."""
        if self._session.app.is_running:
            await run_in_terminal(show)
        else:
            show()


def hint(words: Texts, columns: int) -> str:
    """The keys worth knowing, as many of them as fit."""
    terminal = words.terminal
    shown = ""
    for part in (
        f"Enter {terminal.send}",
        f"Alt+Enter {terminal.new_line}",
        "/help",
        f"Ctrl-D {terminal.leave}",
    ):
        longer = f"{shown}  {part}".strip()
        if get_cwidth(longer) < columns:
            shown = longer
    return shown


def _prompt(attached: Sequence[str]) -> AnyFormattedText:
    files = [("class:attached", f"📎 {', '.join(one_line(name, 30) for name in attached)}\n")]
    return [*(files if attached else []), ("class:mark", "> ")]


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def send(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("c-c")
    @keys.add("<sigint>")
    def clear(event: KeyPressEvent) -> None:
        event.current_buffer.reset()

    return keys
