"""The Textual app: settings, themes, keys, messages and the stack of screens; and how it is run.

The screens decide everything else.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
import threading
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events, work
from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.filter import LineFilter
from textual.notifications import Notification, Notify

from ..config import Config, ConfigProblem, config_path, known_author, load_config
from ..errors import QuizlogError, UsageError
from ..files.paths import own_examples, shipped
from ..files.scratch import scratch_folder
from ..record.who import Giver
from ..replay.replayer import user_replayer
from ..session.audit import Audit, audit_mode, audit_of, check_reading
from ..session.session import Session
from ..text import one_line
from . import external
from .clock import Clock
from .keys.actions import ACTIONS
from .keys.keymap import effective, key_problems, named
from .keys.own_commands import read_own_commands
from .keys.palette import ActionCommands, DestinationCommands
from .keys.typed_keys import KeyGate, WaitingKeys, take_key
from .lessons import LessonScene, Tour
from .messages import ChosenHit, Neighbour, OpenRecord
from .player.player import PlayerScreen
from .screens.base import Destination, Program, QuizlogScreen
from .screens.dialogs import ConfirmScreen
from .state import State
from .theming import AsciiFilter, InstalledThemes, shows_signs
from .toasts import complain, outdated, tell, warn
from .widgets.footer import MessageLine
from .widgets.text_fields import take_paste

if TYPE_CHECKING:
    from ..episodes.read.index import EpisodeFile
    from ..proof.proven import ProvenRecord


_ASCII = AsciiFilter()
_WATCH_SECONDS = 1.0  # between two checks whether the server is there
_LISTED = 1000
"""How many messages the list of all messages holds."""
_LONG = 1024 * 1024
"""Records with more bytes are first shown as recorded."""


class QuizlogApp(Program, inherit_bindings=False):
    """The program.

    Args:
        record: The record to open, or a folder of records to choose from; None for those here or
            the examples.
        config: The user's settings.
        problems: What is wrong in them, to be told.
        clock: Formats times.
        state: What is remembered from run to run.
        session: A record that is open already, to show instead of `record`.
        guided: Whether to say what to try next.
        episodes: A file of episodes to look into, instead of records.
        audit: Why nothing may be changed in the whole program; None if it may.
    """

    TITLE = "quizlog"
    COMMANDS: ClassVar = {ActionCommands, DestinationCommands}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", "Quit", show=False, priority=True, id="app.quit")
    ]

    def __init__(
        self,
        record: Path | None = None,
        config: Config | None = None,
        problems: Sequence[ConfigProblem] = (),
        clock: Clock | None = None,
        state: State | None = None,
        session: Session | None = None,
        guided: bool = False,
        episodes: EpisodeFile | None = None,
        audit: Audit | None = None,
    ) -> None:
        super().__init__()
        self.audit = audit
        self._folder = record if record and record.is_dir() else Path.cwd()
        self._record = None if record == self._folder else record
        self.config = config or Config()
        self.state = state or State()
        self._given = session
        self.tour = Tour(self._scene) if guided else None
        self._episodes = episodes
        self._problems = list(problems)
        self._clock = clock or Clock()
        self.replayer = user_replayer(self.config)
        self.faults: list[Exception] = []
        """Exceptions caused by defects in quizlog, in the order in which they occurred."""
        self._messages = deque[Notification](maxlen=_LISTED)
        """The messages since the start."""
        self._agreed: set[str] = set()
        """The models that the user agreed to ask although they may cost money."""
        self._proofs: dict[Path, ProvenRecord] = {}
        """The verdicts on records."""
        self.in_ascii = False
        """Whether the terminal shows only ASCII."""
        self._themes = InstalledThemes(self)
        self._problems += self._themes.take_first(self.config.theme, self.state.theme)
        self._problems += self._take_keys()
        self._typed = WaitingKeys(self._is_ready, self._take_typed)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """The filters applied to every line before it is drawn."""
        plain = [_ASCII] if self.in_ascii else []
        return [*super().get_line_filters(), self._themes.readable, *plain]

    def _load_themes(self) -> None:
        self._problems += self._themes.take_all()
        self._tell_problems()

    def _tell_problems(self) -> None:
        is_served = self.audit is not None and self.audit.folder is not None
        if self._problems and not is_served:  # they name folders of the person who serves it
            warn(self, "\n".join(map(str, self._problems)))
        self._problems = []

    # -- messages

    def on_notify(self, event: Notify) -> None:
        """Log a message and end those that it makes obsolete; Textual then adds it.

        A warning or an error stays until a key is pressed.
        """
        new = event.notification
        self._messages.append(new)
        if new.severity != "information":
            new.timeout = inf
        for old in outdated(list(self._notifications), new):
            self._unnotify(old, refresh=False)

    def _refresh_notifications(self) -> None:
        """Show the messages below any dialog, where Textual would lay them over the screen."""
        for screen in self.screen_stack[::-1]:
            if lines := screen.query(MessageLine):
                lines.first().renew()
                return

    def action_messages(self) -> None:
        """List all messages, or close the list."""
        from .screens.reading import MessagesScreen

        if isinstance(self.screen, MessagesScreen):
            self.screen.leave()
        elif isinstance(self.screen, QuizlogScreen):
            self.push_screen(MessagesScreen(self._messages))

    # -- settings

    def _take_keys(self) -> list[ConfigProblem]:
        """Put the user's keys and own commands in force; what is wrong with the others."""
        keys, where = self.config.keys, str(config_path())
        problems = key_problems(keys, where)
        if not problems:
            textual = {name: ",".join(map(named, keys[name].split(","))) for name in keys}
            self.set_keymap(textual)
        found, wrong = read_own_commands(self.config.commands, {} if problems else keys, where)
        for command in found:
            self.own_commands[command.name] = command
            action = command.action
            self.bind(action.keys, action.call, description=action.label, show=False)
        return problems + wrong

    def handle_bindings_clash(self, clashed_bindings: set[Binding], node: DOMNode) -> None:
        """Do nothing: conflicts were reported when the key map was read."""

    def action_choose_theme(self) -> None:
        """Choose a theme and remember it."""
        from .screens.dialogs import ThemesScreen

        self._load_themes()
        self.push_screen(ThemesScreen(), self._take_theme)

    def _take_theme(self, name: str | None) -> None:
        if name is not None:
            self.theme = self.state.theme = name

    # -- what the palette finds

    def destinations(self) -> Iterator[Destination]:
        """The records of the library and those shown last, the themes, the settings."""
        self._load_themes()
        for path in self._known_records():
            show = partial(self.post_message, OpenRecord(path))
            yield Destination(f"Record {one_line(path.name)}", one_line(str(path)), show)
        for name in sorted(self.available_themes):
            apply = partial(self._take_theme, name)
            yield Destination(f"Theme {one_line(name)}", "apply and remember it", apply)
        if self.audit is None:
            about = f"open {config_path()} in $EDITOR"
            yield Destination("Settings", about, self._edit_settings)

    def _known_records(self) -> list[Path]:
        """The records of the library in its order, then those shown last, each once."""
        from .screens.library import LibraryScreen

        libraries = (screen for screen in self.screen_stack if isinstance(screen, LibraryScreen))
        listed = [path for library in libraries for path in library.paths]
        recent = [] if self.audit and self.audit.folder else self.state.recent
        known = {Path(os.path.realpath(path)) for path in listed}
        return listed + [path for path in recent if path not in known and os.path.isfile(path)]

    def _edit_settings(self) -> None:
        path = config_path()
        try:
            if not path.is_file():
                hint = "`quizlog config init` writes the file"
                raise UsageError("there are no settings yet", where=str(path), hint=hint)
            external.edit(self, path, None)
        except QuizlogError as error:
            complain(self, error)

    # -- screens

    def action_help(self) -> None:
        """Open the help of the top screen, or close it."""
        from .screens.help import HelpScreen

        if isinstance(self.screen, HelpScreen):
            self.screen.leave()
        elif isinstance(self.screen, QuizlogScreen):
            self.push_screen(HelpScreen(self.screen.SCOPE, self.screen.audit))

    @work
    async def on_mount(self) -> None:
        """Open the first screen."""
        if self.is_web:
            self.set_interval(_WATCH_SECONDS, partial(self._end_without, os.getppid()))
        await self._begin()

    def _end_without(self, server: int) -> None:
        """End when the server that shows the program in a browser is gone."""
        if os.getppid() != server:
            self.exit()

    async def _begin(self) -> None:
        """Open the screen that the program was started for."""
        if self._given is not None:
            self._show(self._given)
            return
        if self._record is not None:
            await self._begin_with(self._record)
            return
        if self._episodes is not None:
            from .screens.episodes import EpisodesScreen

            self.push_screen(EpisodesScreen(self._episodes), lambda _: self.exit())
            self._tell_problems()
            return
        from .screens.library import LibraryScreen

        examples = None if self.audit and self.audit.folder else own_examples
        library = LibraryScreen(self._folder, examples, self.state, self.replayer, self._clock)
        self.push_screen(library, lambda _: self.exit())
        self._tell_problems()

    async def _begin_with(self, record: Path) -> None:
        """Show the record given at start; exit if it cannot be read."""
        try:
            session = await asyncio.to_thread(self._open_session, record)
        except QuizlogError as error:
            self.exit(return_code=error.exit_code, message=f"quizlog: {one_line(str(error))}")
            return
        self._show(session)

    def _open_session(self, path: Path) -> Session:
        """Open a record; only its recorded content if its script cannot be read.

        A long one is not replayed yet: its screen does that, and can be used meanwhile.
        """
        audit = audit_of(path, self.audit)
        giver = Giver("screen", "person", known_author(self.config))
        return Session(
            path,
            self.replayer,
            recorded=True,
            replays=not _is_long(path),
            audit=audit,
            giver=giver,
        )

    def _show(
        self, session: Session, *, browsing: bool = False, found: ChosenHit | None = None
    ) -> None:
        """Show a record, at a hit if one was chosen.

        `browsing` leaves the keys with the screen, to go on to the next record.
        """
        self._tell_problems()
        player = PlayerScreen(
            session,
            self.replayer,
            self.state,
            self._clock,
            known_author(self.config) or "",
            self._agreed,
            self._proofs,
            confirms=self.config.confirm_branches,
            browsing=browsing,
            found=found,
        )
        self.push_screen(player, self._after_player)

    def _scene(self) -> LessonScene | None:
        """The state of the screens, for the guided tour."""
        players = (screen for screen in self.screen_stack if isinstance(screen, PlayerScreen))
        return next((player.scene() for player in players), None)

    def _after_player(self, _: None) -> None:
        """Return to the library, or exit if the program was started with a record."""
        if self._record is not None or self._given is not None:
            self.exit()

    async def _open(self, path: Path) -> Session | None:
        """Open a record from the top screen, which shows errors and lets Escape cancel."""
        screen = self.screen
        if not isinstance(screen, QuizlogScreen):
            return None
        screen.gate.shut()
        try:
            check_reading(self.audit, path)
            session = await screen.slow_work.run(partial(self._open_session, path), "opening")
            return session if screen is self.screen else None
        except QuizlogError as error:
            complain(screen, error)
            return None
        finally:
            screen.gate.open()

    @work
    async def on_open_record(self, event: OpenRecord) -> None:
        """Open the record chosen in the library or the palette."""
        session = await self._open(event.path)
        if session is not None:
            await self._show_instead(session, found=event.found)
        elif event.is_new:
            tell(self, f"the record {event.path.name} was made, but not opened")

    @work
    async def on_neighbour(self, event: Neighbour) -> None:
        """Show the next or previous record of the library in the player."""
        path = await self._neighbour(event.path, event.by)
        if path is None:
            self.notify("no more records that way", markup=False)
            return
        session = await self._open(path)
        if session is not None and isinstance(self.screen, PlayerScreen):
            await self._show_instead(session, browsing=True)

    async def _neighbour(self, path: Path, by: int) -> Path | None:
        """The record next to one, in the order of the library if it is open."""
        from .screens.library import LibraryScreen
        from .shelf import neighbour

        for screen in self.screen_stack:
            if isinstance(screen, LibraryScreen):
                return screen.neighbour(path, by)
        return await asyncio.to_thread(neighbour, path, by)

    async def _show_instead(
        self, session: Session, *, browsing: bool = False, found: ChosenHit | None = None
    ) -> None:
        """Show a record, in place of the one that is shown."""
        with self.batch_update():
            if isinstance(self.screen, PlayerScreen):
                self.screen.cancel()
                await self.pop_screen()
            self._show(session, browsing=browsing, found=found)

    # -- faults

    async def on_event(self, event: events.Event) -> None:
        """Handle an event. An exception in it does not end the program."""
        try:
            if not isinstance(event, events.Key | events.Paste):
                await super().on_event(event)
            elif not self._typed.must_wait() or self._quits(event):
                await self._take_typed(event)
            elif self._typed.add(event):
                self._take_waiting()
        except Exception as error:
            self._handle_exception(error)

    def _keys_of(self, *actions: str) -> set[str]:
        """The keys that actions of the program have under the user's key map."""
        found = (action for action in ACTIONS["app"] if action.id in actions)
        return {key for action in found for key in effective(action, self._keymap)}

    def _quits(self, event: events.Event) -> bool:
        """Whether this is the key that ends the program at any time."""
        return isinstance(event, events.Key) and event.key in self._keys_of("app.quit")

    @property
    def _gate(self) -> KeyGate:
        """The gate of the screen on top; an open one if it has none."""
        screen = self.screen
        return screen.gate if isinstance(screen, QuizlogScreen | ConfirmScreen) else KeyGate()

    async def _take_typed(self, event: events.Event) -> None:
        """Process a key or pasted text completely."""
        try:
            if isinstance(event, events.Key):
                self.app_focus = True
                self.clear_notifications()
                await take_key(self, event, self._gate, self._keys_of("app.back", "app.quit"))
            elif isinstance(event, events.Paste):
                await take_paste(self, event)
        except Exception as error:
            self._handle_exception(error)

    @work
    async def _take_waiting(self) -> None:
        await self._typed.act()

    def _is_ready(self) -> bool:
        """Whether keys may act: the top screen and whatever the last key started are ready."""
        screen = self.screen
        if len(self.screen_stack) == 1 or not screen.is_mounted:
            return False
        if isinstance(screen, QuizlogScreen) and not screen.ready:
            return False
        if screen.focused is None:  # as while the terminal has no focus; a key gives it back
            return not screen.focus_chain or not self.app_focus
        return not any(node.message_queue_size for node in screen.focused.ancestors_with_self)

    def _handle_exception(self, error: Exception) -> None:
        """Show an error panel, where Textual would end the program."""
        if not any(isinstance(screen, QuizlogScreen) for screen in self.screen_stack):
            super()._handle_exception(error)  # there is nothing to go on with
            return
        self._exception_event.set()  # a pilot must not wait for the widget that raised
        self.faults.append(error)
        self.call_later(self._show_fault, error)

    def _show_fault(self, error: Exception) -> None:
        from .screens.dialogs import FaultScreen

        if not isinstance(self.screen, FaultScreen):
            self.push_screen(FaultScreen(error), self._close_broken)

    async def _close_broken(self, _: None) -> None:
        """Close the faulty screen and those above it; reopen the first screen.

        The screen cannot continue: Textual ends the message loop of a widget whose handler raised.
        """
        while self.screen.is_modal:
            await self.screen.dismiss(None)
        self._exception_event.clear()
        broken = self.screen
        if len(self.screen_stack) > 2:
            await broken.dismiss(None)
            return
        await self.pop_screen()
        if isinstance(broken, PlayerScreen):
            pointer = broken.session.pointer
            self.state.remember(broken.session.path, pointer, pointer)  # the step may be at fault
            self._show(broken.session)
        else:
            await self._begin()

    def on_unmount(self) -> None:
        """End every script."""
        self.replayer.close()


def _is_long(path: Path) -> bool:
    """Whether a record takes so long to replay that what is recorded is shown first."""
    try:
        return path.stat().st_size > _LONG
    except OSError:
        return False


_GRACE_SECONDS = 10.0
"""How long leaving may take after the terminal was closed: nobody takes what is written to it."""


def run(
    record: Path | None,
    *,
    read_only: bool = False,
    folder: Path | None = None,
    allow: Collection[str] = (),
    episodes: EpisodeFile | None = None,
    audit: Audit | None = None,
) -> int:
    """Run the program until the user leaves; the exit code.

    Args:
        record: What to open; see `QuizlogApp`.
        read_only: Open it in audit mode, as the settings may say as well.
        folder: The folder that is served to a browser, outside which audit mode reads no file; None
            in a terminal.
        allow: What is allowed in audit mode.
        episodes: A file of episodes to look into, instead of records.
        audit: The audit mode of what is only read by its nature, unless one was asked for.
    """
    config, problems = load_config()
    audit = audit_mode(read_only, config.audit, allow, folder) or audit
    with _state_of_tab() if folder else nullcontext(State()) as state:
        app = QuizlogApp(record, config, problems, state=state, episodes=episodes, audit=audit)
        return _run(app)


@contextmanager
def _state_of_tab() -> Iterator[State]:
    """What a browser's tab remembers until it ends: whoever looks there may not be the user."""
    with scratch_folder("tab") as place:
        state = State(place / "screens.json")
        state.theme = State().theme
        yield state


def _run(app: QuizlogApp) -> int:
    app.in_ascii = not shows_signs(sys.__stderr__)  # where Textual draws
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):  # without it the terminal would be left as the screens had it
            number = getattr(signal, name)
            signal.signal(number, lambda number, frame: _leave(app, number))
    if app.driver_class.__name__ == "LinuxDriver":  # not on Windows, nor in a browser
        from .terminal_input import TerminalDriver

        app.driver_class = TerminalDriver
    app.run(mouse=app.config.mouse)
    return app.return_code or 0


def _leave(app: QuizlogApp, number: int) -> None:
    """End the program after a signal; at once if it still waits for a terminal that is gone."""
    app.exit(return_code=128 + number)
    if number == getattr(signal, "SIGHUP", 0):
        late = threading.Timer(_GRACE_SECONDS, os._exit, (128 + number,))
        late.daemon = True
        late.start()


def run_demo() -> int:
    """Run the guided tour on a temporary copy of a shipped example; the exit code."""
    with scratch_folder("demo") as folder:
        target = folder / "arithmetic"
        shutil.copytree(shipped("records") / "arithmetic", target)
        return _run(QuizlogApp(target / "record.yaml", *load_config(), guided=True))
