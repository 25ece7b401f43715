"""The Textual app: settings, themes, keys and the stack of screens, which decide the rest."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events, work
from textual.app import App
from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.filter import LineFilter
from textual.notifications import Notify

from ..config import Config, ConfigProblem
from ..errors import QuizlogError
from ..files.paths import own_examples
from ..record.author import known_author
from ..record.who import Giver
from ..replay.replayer import user_replayer
from ..session.audit import Audit, audit_of, check_reading
from ..session.session import Session
from ..text import one_line
from .app_destinations import app_destinations
from .clock import Clock
from .destinations import Destination
from .keys.palette import ActionCommands, DestinationCommands
from .keys.pasting import take_paste
from .keys.typed_keys import KeyGate, WaitingKeys, take_key
from .keys.user_keys import UserKeys
from .lessons import LessonScene, Tour
from .message_log import MessageLog
from .messages import Neighbour, OpenRecord
from .neighbours import find_neighbour
from .screens.base import QuizlogScreen
from .screens.player.opening_screen import OpeningScreen, is_long
from .screens.player.player import PlayerScreen
from .search_hits import ChosenHit
from .state import State
from .themes.ascii_signs import AsciiFilter
from .themes.installed_themes import InstalledThemes
from .toasts import complain, warn

if TYPE_CHECKING:
    from ..episodes.read.index import EpisodeFile

_ASCII = AsciiFilter()
_WATCH_SECONDS = 1.0  # between two checks of the theme files


class QuizlogApp(App[None], inherit_bindings=False):
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
        """The guided tour, shown on every screen."""
        self._episodes = episodes
        self._problems = list(problems)
        self._clock = clock or Clock()
        self.replayer = user_replayer(self.config)
        self.faults: list[Exception] = []
        """Exceptions caused by defects in quizlog, in the order in which they occurred."""
        self._messages = MessageLog(self)
        self._agreed: set[str] = set()
        """The models that the user agreed to ask although they may cost money."""
        self.in_ascii = False
        """Whether the terminal shows only ASCII."""
        self._themes = InstalledThemes(self)
        self._problems += self._themes.take_first(self.config.theme, self.state.theme)
        self._keys = UserKeys(self)
        self._problems += self._keys.take(self.config)
        self.own_commands = self._keys.commands
        """The user's own commands, by name."""
        self._typed = WaitingKeys(self._is_ready, self._take_typed)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """The filters applied to every line before it is drawn."""
        plain = [_ASCII] if self.in_ascii else []
        return [*super().get_line_filters(), self._themes.readable, *plain]

    def _watch_themes(self) -> None:
        """Redraw when a theme file changes."""
        self._problems += self._themes.take_changed()
        self._tell_problems()

    def _tell_problems(self) -> None:
        is_served = self.audit is not None and self.audit.folder is not None
        if self._problems and not is_served:  # they name folders of the person who serves it
            warn(self, "\n".join(map(str, self._problems)))
        self._problems = []

    def on_notify(self, event: Notify) -> None:
        """Log a message; Textual then adds it to the current ones."""
        self._messages.add(event.notification)

    def _refresh_notifications(self) -> None:
        """Show the messages, which Textual would lay over the screen."""
        self._messages.show()

    def action_messages(self) -> None:
        """List all messages, or close the list."""
        self._messages.list_all()

    def handle_bindings_clash(self, clashed_bindings: set[Binding], node: DOMNode) -> None:
        """Do nothing: conflicts were reported when the key map was read."""

    def action_choose_theme(self) -> None:
        """Choose a theme and remember it."""
        from .screens.themes import ThemesScreen

        self._watch_themes()
        self.push_screen(ThemesScreen(), self.take_theme)

    def take_theme(self, name: str | None) -> None:
        """Apply a theme and remember it, if one was chosen."""
        if name is not None:
            self.theme = self.state.theme = name

    def destinations(self) -> Iterator[Destination]:
        """The records, themes and settings, for the palette."""
        self._watch_themes()
        return app_destinations(self)

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
        self.set_interval(_WATCH_SECONDS, self._watch_themes)
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
            from .screens.episodes.episodes import EpisodesScreen

            self.push_screen(EpisodesScreen(self._episodes), lambda _: self.exit())
            self._tell_problems()
            return
        from .screens.library.library import LibraryScreen

        examples = None if self.audit and self.audit.folder else own_examples
        library = LibraryScreen(self._folder, examples, self.state, self.replayer, self._clock)
        self.push_screen(library, lambda _: self.exit())
        self._tell_problems()

    async def _begin_with(self, record: Path) -> None:
        """Show the record given at start; exit if it cannot be read."""
        try:
            session = await self._session(record)
        except QuizlogError as error:
            self.exit(return_code=error.exit_code, message=f"quizlog: {one_line(str(error))}")
            return
        self._show(session)

    async def _session(self, path: Path) -> Session:
        """Open a record. While a long one is replayed, show its recorded output."""
        if not is_long(path):
            return await asyncio.to_thread(self._open_session, path)
        opening = OpeningScreen(path, self._open_session, self.replayer)
        await self.push_screen(opening)
        try:
            return await opening.session()
        finally:
            await self.pop_screen()

    def _open_session(self, path: Path) -> Session:
        """Open a record; only its recorded content if its script cannot be read."""
        audit = audit_of(path, self.audit)
        giver = Giver("screen", "person", known_author(self.config))
        return Session(path, self.replayer, recorded=True, audit=audit, giver=giver)

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
            if is_long(path):
                return await self._session(path)
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

    @work
    async def on_neighbour(self, event: Neighbour) -> None:
        """Show the next or previous record of the library in the player."""
        path = await find_neighbour(self.screen_stack, event.path, event.by)
        if path is None:
            self.notify("no more records that way", markup=False)
            return
        session = await self._open(path)
        if session is not None and isinstance(self.screen, PlayerScreen):
            await self._show_instead(session, browsing=True)

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
            elif not self._typed.must_wait() or self._keys.quits(event):
                await self._take_typed(event)
            elif self._typed.add(event):
                self._take_waiting()
        except Exception as error:
            self._handle_exception(error)

    async def _take_typed(self, event: events.Event) -> None:
        """Process a key or pasted text completely."""
        try:
            if isinstance(event, events.Key):
                self.app_focus = True
                self.clear_notifications()
                gate = getattr(self.screen, "gate", KeyGate())
                await take_key(self, event, gate, self._keys.ways_out)
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
        from .screens.fault import FaultScreen

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
