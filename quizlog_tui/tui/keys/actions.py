"""The one table of what a person can do: keys, words, and the shell's way to the same.

Bindings, footer, help, palette, the keys of the configuration and the tables in the guides are all made
from it. Plain data: imports nothing of Textual, so that the shell can check a key map.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Action:
    """One thing to do on a screen."""

    id: str
    """`scope.name`: what a key map names."""
    keys: str
    """Textual's key names, comma separated; the first is shown."""
    call: str
    """The action as Textual calls it."""
    label: str
    """One or two words, for the footer."""
    help: str
    """A phrase for help and palette."""
    footer: bool = False
    """Whether the footer shows it."""
    shell: str = ""
    """The same on the command line; empty for what only moves about the screen."""

    @property
    def scope(self) -> str:
        """Where it works: a screen's or widget's name."""
        return self.id.split(".")[0]


def _a(id: str, keys: str, call: str, label: str, help: str, **more: bool | str) -> Action:
    return Action(id, keys, call, label, help, **more)  # type: ignore[arg-type]


_EVERYWHERE = (
    _a("app.help", "question_mark,f1", "app.help", "Help", "the keys of this screen", footer=True, shell="quizlog --help"),
    _a("app.palette", "ctrl+p,colon", "app.command_palette", "Commands", "every command, by its name"),
    _a("app.find", "slash", "find", "Find", "find in the pane with the focus", shell="quizlog RECORD | grep WORDS"),
    _a("app.next", "n", "find_next(1)", "Next", "the next place found"),
    _a("app.previous", "N", "find_next(-1)", "Previous", "the place found before"),
    _a("app.filter", "ampersand", "filter", "Filter", "only lines with what was found, or all again", shell="quizlog RECORD | grep WORDS"),
    _a("app.copy", "y,ctrl+c,super+c", "copy", "Copy", "copy the selection, the marked line or the pane"),
    _a("app.pager", "v", "pager", "Pager", "the pane in $PAGER", shell="quizlog RECORD | less"),
    _a("app.export", "x", "export", "Export", "screen as SVG or text, record as HTML or Markdown", shell="quizlog screenshot RECORD, quizlog export RECORD -o FILE"),
    _a("app.theme", "f2", "app.choose_theme", "Theme", "choose a theme, with preview", shell="quizlog config init"),
    _a("app.focus_next", "tab", "app.focus_next", "Next pane", "the next pane"),
    _a("app.focus_previous", "shift+tab", "app.focus_previous", "Pane before", "the pane before"),
    _a("app.back", "escape", "back", "Back", "back out: of running work, a search, a screen", footer=True),
    _a("app.quit", "ctrl+q", "app.quit", "Quit", "leave quizlog; nothing is ever unsaved"),
)  # fmt: skip
_PANE = (
    _a("pane.down", "j,down", "scroll_down", "Down", "a line down"),
    _a("pane.up", "k,up", "scroll_up", "Up", "a line up"),
    _a("pane.top", "g,home", "scroll_home", "Top", "to the top"),
    _a("pane.end", "G,end", "scroll_end", "End", "to the end"),
    _a("pane.page_down", "ctrl+d,pagedown", "page_down", "Page down", "a page down"),
    _a("pane.page_up", "ctrl+u,pageup", "page_up", "Page up", "a page up"),
)
_LIST = (
    _a("list.down", "j,down", "move(1)", "Down", "the mark down"),
    _a("list.up", "k,up", "move(-1)", "Up", "the mark up"),
    _a("list.top", "g,home", "move_to('top')", "Top", "to the first"),
    _a("list.end", "G,end", "move_to('end')", "End", "to the last"),
    _a("list.page_down", "ctrl+d,pagedown", "move_page(1)", "Page down", "a page down"),
    _a("list.page_up", "ctrl+u,pageup", "move_page(-1)", "Page up", "a page up"),
    _a("list.choose", "enter", "choose", "Choose", "take the marked one"),
)
_PLAYER = (
    _a("player.back", "h,left", "do('navigation.step', -1)", "Back", "look one step back", footer=True, shell="quizlog steps RECORD"),
    _a("player.forward", "l,right", "do('navigation.step', 1)", "Forward", "look one step forward", footer=True),
    _a("player.first", "0", "do('navigation.go', 0)", "First", "look at the start"),
    _a("player.last", "dollar_sign", "do('navigation.go', -1)", "Last", "look at the end"),
    _a("player.previous_mark", "left_square_bracket", "do('navigation.mark', -1)", "Mark before", "the error, note, fork or decision before"),
    _a("player.next_mark", "right_square_bracket", "do('navigation.mark', 1)", "Next mark", "the next error, note, fork or decision"),
    _a("player.event_back", "comma", "do('navigation.event', -1)", "Event back", "one printed text back"),
    _a("player.event_forward", "full_stop", "do('navigation.event', 1)", "Event", "one printed text forward"),
    _a("player.find_all", "ctrl+f,f3", "do('find_all.open')", "Find all", "find in all steps and branches, notes and errors", shell="quizlog find WORDS RECORD"),
    _a("player.jump", "number_sign", "do('navigation.jump')", "Jump", "go to a step by its number"),
    _a("player.play", "space", "do('autoplay.play')", "Play", "play on by itself, or stop"),
    _a("player.slower", "less_than_sign", "do('autoplay.speed', -1)", "Slower", "play slower"),
    _a("player.faster", "greater_than_sign", "do('autoplay.speed', 1)", "Faster", "play faster"),
    _a("player.answer", "i,enter", "do('panes.focus_answer')", "Answer", "type an answer to the question shown", footer=True, shell="quizlog RECORD ANSWER"),
    _a("player.plain", "ctrl+t", "do('panes.plain')", "Plain input", "answer in a plain line of text, or the fitting input again"),
    _a("player.rewind", "r", "do('editing.rewind')", "Rewind", "set the record's pointer to the step shown", footer=True, shell="quizlog rewind RECORD K"),
    _a("player.redo_tail", "T", "do('editing.redo_tail')", "Redo tail", "take all recorded answers again", shell="quizlog rewind RECORD K"),
    _a("player.fork", "f", "do('editing.fork')", "Fork", "another answer here, starting from the recorded one, on a branch of its own", footer=True, shell="quizlog fork RECORD K ANSWER"),
    _a("player.amend", "A", "do('editing.amend')", "Amend", "change this answer, keep later ones while questions agree", shell="quizlog amend RECORD K ANSWER"),
    _a("player.bisect", "B", "do('editing.bisect')", "Bisect", "find the answer that spoils the outcome", shell="quizlog bisect RECORD"),
    _a("player.undo", "z,ctrl+z", "do('editing.undo')", "Undo", "take the last change back", shell="quizlog rewind RECORD K, quizlog switch RECORD NAME"),
    _a("player.redo", "Z,ctrl+y", "do('editing.redo')", "Redo", "make the change again", shell="quizlog rewind RECORD K, quizlog switch RECORD NAME"),
    _a("player.tree", "b", "do('dialogs.tree')", "Branches", "the branches as a tree", footer=True, shell="quizlog branches RECORD"),
    _a("player.compare", "c", "do('tools.compare')", "Compare", "this branch beside another", footer=True, shell="quizlog diff A B"),
    _a("player.sweep", "s", "do('tools.sweep')", "Sweep", "try many answers here side by side", shell="quizlog sweep RECORD K ANSWER..."),
    _a("player.note", "a", "do('dialogs.note')", "Note", "write a note or verdict at this step", shell="quizlog feedback RECORD K TEXT"),
    _a("player.notes", "F", "do('dialogs.notes')", "Notes", "all notes and verdicts", shell="quizlog feedback RECORD"),
    _a("player.decision", "d", "do('tools.decision')", "Decision", "how several models came to this answer", shell="quizlog decisions RECORD"),
    _a("player.ask", "m", "do('tools.ask_models')", "Ask models", "ask several models the pending question, and decide", shell="quizlog solve RECORD"),
    _a("player.episode", "E", "do('tools.episode')", "Episode", "this branch as an episode of training data, into a file", shell="quizlog episodes build RECORD --branch NAME"),
    _a("player.source", "S", "do('panes.source')", "Source", "the script with the current line, or the answers again"),
    _a("player.raw", "u", "do('output.toggle_raw')", "Raw", "escape sequences of the output as text, or what a terminal makes of them", shell="quizlog RECORD --raw"),
    _a("player.output", "1", "do('panes.panel', 'output')", "Output", "focus the output"),
    _a("player.answers", "2", "do('panes.panel', 'timeline')", "Answers", "focus the timeline"),
    _a("player.script", "3", "do('panes.panel', 'source')", "Script", "focus the source"),
    _a("player.recorded", "4", "do('answer_pane.toggle')", "Whole answer", "the recorded answer in full beside the output, or away again", shell="quizlog steps RECORD --json"),
    _a("player.editor", "e", "do('tools.editor')", "Editor", "the script at this line in $EDITOR"),
    _a("player.reload", "R", "do('editing.reload')", "Reload", "read record and script again"),
    _a("player.previous_record", "H", "do('dialogs.neighbour', -1)", "Record before", "the record before this one in the library", shell="quizlog list"),
    _a("player.next_record", "L", "do('dialogs.neighbour', 1)", "Next record", "the next record of the library", shell="quizlog list"),
    _a("player.library", "q", "leave", "Leave", "back to the records, or out", footer=True),
)  # fmt: skip

_LIBRARY = (
    _a("library.open", "l,right,o", "open", "Open", "open the marked record; so does enter", footer=True, shell="quizlog tui RECORD"),
    _a("library.new", "plus,insert", "new", "New", "a new record for a script", footer=True, shell="quizlog new SCRIPT"),
    _a("library.status", "f", "status", "Status", "only records that wait, finished, failed or cannot be read, or all", footer=True, shell="quizlog list --status error"),
    _a("library.sort", "s", "sort", "Sort", "sort by name, change, score or steps", footer=True, shell="quizlog list --sort score"),
    _a("library.turn", "S", "turn", "Turn", "sort the other way round"),
    _a("library.find_all", "ctrl+f,f3", "find_all", "Find all", "find in all records shown", footer=True, shell="quizlog find WORDS"),
    _a("library.episodes", "E", "episodes", "Episodes", "look into a file of episodes", shell="quizlog episodes browse FILE"),
    _a("library.editor", "e", "editor", "Editor", "the record's file in $EDITOR"),
    _a("library.reload", "R", "reload", "Reload", "look for records anew", shell="quizlog list"),
    _a("library.leave", "q", "leave", "Quit", "leave quizlog", footer=True),
)  # fmt: skip
_TREE = (
    _a("tree.go", "l,right", "go", "Go there", "switch to the marked branch and go back to it; so does enter", footer=True, shell="quizlog switch RECORD NAME"),
    _a("tree.switch", "space", "switch", "Switch", "switch to the marked branch, stay here", footer=True, shell="quizlog switch RECORD NAME"),
    _a("tree.fork", "f", "fork", "Fork", "a new branch that leaves the marked one at a step", footer=True, shell="quizlog fork RECORD K ANSWER"),
    _a("tree.rename", "r", "rename", "Rename", "give the marked branch another name", footer=True, shell="quizlog rename RECORD NAME NEW"),
    _a("tree.note", "a", "note", "Note", "a note on the marked branch", footer=True, shell="quizlog note RECORD NAME TEXT"),
    _a("tree.delete", "d,delete", "delete", "Delete", "hide the marked branch; its answers stay", footer=True, shell="quizlog delete RECORD NAME"),
    _a("tree.restore", "U", "restore", "Restore", "bring a deleted branch back", shell="quizlog restore RECORD NAME"),
    _a("tree.deleted", "D", "deleted", "Deleted", "show deleted branches too, or hide them again", shell="quizlog branches RECORD --deleted"),
    _a("tree.undo", "z,ctrl+z", "undo", "Undo", "take the last change back", footer=True, shell="quizlog restore RECORD NAME, quizlog switch RECORD NAME"),
    _a("tree.redo", "Z,ctrl+y", "redo", "Redo", "make the change again", shell="quizlog delete RECORD NAME, quizlog switch RECORD NAME"),
    _a("tree.reload", "R", "reload", "Reload", "read record and script again"),
    _a("tree.leave", "q,b", "leave", "Back", "back to the player", footer=True),
)  # fmt: skip
_NOTES = (
    _a("notes.go", "l,right", "go", "Go there", "to the step of the marked note; so does enter", footer=True, shell="quizlog rewind RECORD K"),
    _a("notes.verdict", "f", "verdict", "Verdict", "only notes with one verdict, or all", footer=True, shell="quizlog feedback RECORD --verdict wrong"),
    _a("notes.author", "w", "author", "Who", "only notes by one author, or all", footer=True, shell="quizlog feedback RECORD --author NAME"),
    _a("notes.leave", "q,F", "leave", "Back", "back to the player", footer=True),
)  # fmt: skip
_ASK = (
    _a("ask.accept", "a,enter", "accept", "Accept", "answer with what was decided", footer=True, shell="quizlog solve RECORD --accept"),
    _a("ask.override", "o", "override", "Override", "answer yourself, starting from what was decided", footer=True, shell="quizlog RECORD ANSWER"),
    _a("ask.autopilot", "p", "autopilot", "Autopilot", "go on while models agree; again stops it", footer=True, shell="quizlog solve RECORD --until-end"),
    _a("ask.again", "m", "again", "Again", "ask the models once more", shell="quizlog solve RECORD"),
    _a("ask.leave", "q", "leave", "Back", "back to the player; the decision is kept", footer=True),
)  # fmt: skip
_OPENING = (
    _a("opening.leave", "q", "leave", "Stop", "stop the replay and go back", footer=True),
)  # fmt: skip
_COMPARE = (
    _a("compare.next", "right_square_bracket", "difference(1)", "Next difference", "the next difference", footer=True),
    _a("compare.previous", "left_square_bracket", "difference(-1)", "Difference before", "the difference before", footer=True),
    _a("compare.look", "enter", "look", "Look", "the marked step in the player", footer=True),
    _a("compare.other", "c", "other", "Other", "compare with another branch or record", footer=True, shell="quizlog diff A B"),
    _a("compare.leave", "q", "leave", "Back", "back to the player", footer=True),
)  # fmt: skip
_SWEEP = (
    _a("sweep.run", "f5,ctrl+s", "run", "Try", "try all answers that are typed", footer=True, shell="quizlog sweep RECORD K ANSWER..."),
    _a("sweep.file", "f4,o", "file", "File", "take answers from a file, one a line", footer=True, shell="quizlog sweep RECORD K --from FILE"),
    _a("sweep.keep", "f", "keep", "Keep", "keep the marked answer as a branch; the active one stays", footer=True, shell="quizlog fork RECORD K ANSWER"),
    _a("sweep.sort", "s", "sort", "Sort", "the best first, or as they were tried", footer=True),
    _a("sweep.edit", "i", "edit", "Type", "type more answers", footer=True),
    _a("sweep.leave", "q", "leave", "Back", "back to the player", footer=True),
)  # fmt: skip
_CONSENSUS = (
    _a("consensus.next", "right_square_bracket", "decision(1)", "Next decision", "the next decision", footer=True),
    _a("consensus.previous", "left_square_bracket", "decision(-1)", "Decision before", "the decision before", footer=True),
    _a("consensus.rule", "r", "rule", "Rule", "decide again by another rule; nothing is written", footer=True, shell="quizlog decisions RECORD"),
    _a("consensus.look", "enter", "look", "Look", "its step in the player", footer=True),
    _a("consensus.leave", "q,d", "leave", "Back", "back to the player", footer=True),
)  # fmt: skip
_FIND = (
    _a("find.go", "l,right", "go", "Go there", "to the step of the marked hit; so does enter", footer=True),
    _a("find.list", "down", "list", "List", "from the words to the list", footer=True),
    _a("find.regex", "ctrl+r,f4", "regex", "Regex", "take the words as a regular expression, or as they are again", footer=True, shell="quizlog find WORDS --regex"),
    _a("find.leave", "q", "leave", "Back", "back to the screen", footer=True),
)  # fmt: skip
_EPISODES = (
    _a("episodes.read", "l,right", "read", "Read", "the marked episode alone; so does enter", footer=True),
    _a("episodes.list", "h,left", "list", "List", "the list again", footer=True),
    _a("episodes.next", "right_square_bracket", "episode(1)", "Next episode", "the next episode"),
    _a("episodes.previous", "left_square_bracket", "episode(-1)", "Episode before", "the episode before"),
    _a("episodes.state", "f", "state", "Filter", "only episodes that are verified, are not, or cannot be read, or all", footer=True, shell="quizlog episodes stats FILE, quizlog episodes check FILE"),
    _a("episodes.jump", "number_sign", "jump", "Jump", "go to a line of the file by its number", footer=True),
    _a("episodes.reload", "R", "reload", "Reload", "read the file again, or the rest of it", shell="quizlog episodes browse FILE"),
    _a("episodes.leave", "q", "leave", "Back", "back, or out", footer=True),
)  # fmt: skip
_HELP = (
    _a(
        "help.guides",
        "o,enter",
        "guides",
        "Guides",
        "read and search the guides",
        footer=True,
        shell="quizlog help",
    ),
    _a("help.leave", "q", "leave", "Back", "back to the screen", footer=True),
)
_GUIDES = (
    _a(
        "guides.read",
        "l,right",
        "read",
        "Read",
        "into the text; so does enter",
        footer=True,
        shell="quizlog help TOPIC",
    ),
    _a("guides.leave", "q", "leave", "Back", "back to the screen", footer=True),
)

_COMMAND = (_a("command.leave", "q", "leave", "Back", "back to the screen", footer=True),)

ACTIONS: dict[str, tuple[Action, ...]] = {
    "app": _EVERYWHERE,
    "pane": _PANE,
    "list": _LIST,
    "player": _PLAYER,
    "library": _LIBRARY,
    "tree": _TREE,
    "notes": _NOTES,
    "ask": _ASK,
    "opening": _OPENING,
    "compare": _COMPARE,
    "sweep": _SWEEP,
    "consensus": _CONSENSUS,
    "find": _FIND,
    "episodes": _EPISODES,
    "help": _HELP,
    "guides": _GUIDES,
    "command": _COMMAND,
}
"""All actions by scope, in the order of the help."""


def all_actions() -> list[Action]:
    """Every action of every scope."""
    return [action for actions in ACTIONS.values() for action in actions]
