"""The table of all actions: their keys, their texts, and the shell commands that do the same.

Bindings, footer, help, command palette, the keys in the settings and the tables in the guides are made
from it. Plain data: it does not import Textual, so that the shell can check a key map, and knows the
names of the screens that it can draw.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...session.audit import Audit


@dataclass(frozen=True)
class Action:
    """An action that a key triggers on a screen."""

    id: str
    """`scope.name`, as key maps name it."""
    keys: str
    """Textual's key names, separated by commas; the first one is shown."""
    call: str
    """The action as Textual calls it."""
    label: str
    """One or two words, for the footer."""
    help: str
    """What it does, for the help and the palette."""
    footer: bool = False
    """Whether the footer shows it."""
    shell: str = ""
    """The shell commands that do the same; empty if it only moves about the screen."""
    writes: str = ""
    """The kind of writing that it does: one that `Audit` may allow, or `record`; empty for none."""

    @property
    def scope(self) -> str:
        """The screen or widget it works on."""
        return self.id.split(".")[0]

    def is_refused(self, audit: Audit | None) -> bool:
        """Whether audit mode refuses it: then no footer, palette or help offers it."""
        return audit is not None and bool(self.writes) and audit.refuses(self.writes)


def _a(id: str, keys: str, call: str, label: str, help: str, **more: bool | str) -> Action:
    return Action(id, keys, call, label, help, **more)  # type: ignore[arg-type]


_EVERYWHERE = (
    _a("app.help", "question_mark,f1", "app.help", "Help", "show the keys of this screen", footer=True, shell="quizlog --help"),
    _a("app.palette", "ctrl+p,colon", "app.command_palette", "Commands", "find any command by its name"),
    _a("app.find", "slash", "find", "Find", "find text in the focused pane", shell="quizlog RECORD | grep WORDS"),
    _a("app.next", "n", "find_next(1)", "Next hit", "go to the next hit"),
    _a("app.previous", "N", "find_next(-1)", "Previous hit", "go to the previous hit"),
    _a("app.filter", "ampersand", "filter", "Filter", "show only lines with hits, or all lines again", shell="quizlog RECORD | grep WORDS"),
    _a("app.copy", "y,ctrl+c,super+c", "copy", "Copy", "copy the selection, the selected row or the pane"),
    _a("app.pager", "v", "pager", "Pager", "open the pane in $PAGER", shell="quizlog RECORD | less"),
    _a("app.export", "x", "export", "Export", "export the screen as SVG or text, or the record as HTML or Markdown", shell="quizlog screenshot RECORD, quizlog export RECORD -o FILE", writes="exports"),
    _a("app.messages", "M", "app.messages", "Messages", "list all messages since the start, or close the list"),
    _a("app.theme", "f2", "app.choose_theme", "Theme", "choose a theme, with a preview", shell="quizlog config init"),
    _a("app.whole", "f10", "whole", "Whole screen", "make the focused pane the whole screen, or give the others their places back"),
    _a("app.focus_next", "tab", "app.focus_next", "Next pane", "go to the next pane"),
    _a("app.focus_previous", "shift+tab", "app.focus_previous", "Previous pane", "go to the previous pane"),
    _a("app.back", "escape", "back", "Back", "stop running work, or leave a search or a screen", footer=True),
    _a("app.quit", "ctrl+q", "app.quit", "Quit", "leave quizlog; everything is saved already"),
)  # fmt: skip
_PANE = (
    _a("pane.down", "j,down", "scroll_down", "Down", "scroll down a line"),
    _a("pane.up", "k,up", "scroll_up", "Up", "scroll up a line"),
    _a("pane.top", "g,home", "scroll_home", "Top", "go to the top"),
    _a("pane.end", "G,end", "scroll_end", "End", "go to the end"),
    _a("pane.page_down", "ctrl+d,pagedown", "page_down", "Page down", "scroll down a page"),
    _a("pane.page_up", "ctrl+u,pageup", "page_up", "Page up", "scroll up a page"),
)
_LIST = (
    _a("list.down", "j,down", "move(1)", "Down", "select the next row"),
    _a("list.up", "k,up", "move(-1)", "Up", "select the previous row"),
    _a("list.top", "g,home", "move_to('top')", "Top", "select the first row"),
    _a("list.end", "G,end", "move_to('end')", "End", "select the last row"),
    _a("list.page_down", "ctrl+d,pagedown", "move_page(1)", "Page down", "go down a page"),
    _a("list.page_up", "ctrl+u,pageup", "move_page(-1)", "Page up", "go up a page"),
    _a("list.choose", "enter", "choose", "Choose", "open or choose the selected row"),
)
_PLAYER = (
    _a("player.back", "h,left", "step(-1)", "Back", "show the previous step", footer=True, shell="quizlog steps RECORD"),
    _a("player.forward", "l,right", "step(1)", "Forward", "show the next step", footer=True),
    _a("player.first", "0", "go(0)", "First", "show the first step"),
    _a("player.last", "dollar_sign", "go(-1)", "Last", "show the last step"),
    _a("player.previous_mark", "left_square_bracket", "mark(-1)", "Previous marker", "go to the previous error, note, fork or decision"),
    _a("player.next_mark", "right_square_bracket", "mark(1)", "Next marker", "go to the next error, note, fork or decision"),
    _a("player.event_back", "comma", "event(-1)", "Previous event", "go back one printed text"),
    _a("player.event_forward", "full_stop", "event(1)", "Next event", "go forward one printed text"),
    _a("player.find_all", "ctrl+f,f3", "find_all", "Find all", "find in all steps, branches, notes and errors", shell="quizlog find WORDS RECORD"),
    _a("player.jump", "number_sign", "jump", "Jump", "go to a step by its number"),
    _a("player.play", "space", "play", "Play", "play the steps automatically, or stop"),
    _a("player.slower", "less_than_sign", "speed(-1)", "Slower", "play slower"),
    _a("player.faster", "greater_than_sign", "speed(1)", "Faster", "play faster"),
    _a("player.answer", "i,enter", "answer", "Answer", "answer the question that is shown", footer=True, shell="quizlog RECORD ANSWER", writes="record"),
    _a("player.plain", "ctrl+t", "plain", "Plain input", "switch between plain text and the fitting input"),
    _a("player.rewind", "r", "rewind", "Rewind", "set the record's pointer to this step", footer=True, shell="quizlog rewind RECORD K", writes="record"),
    _a("player.redo_tail", "T", "redo_tail", "Redo tail", "replay all recorded answers after the pointer", shell="quizlog rewind RECORD K", writes="record"),
    _a("player.fork", "f", "fork", "Fork", "give another answer here, on a new branch", footer=True, shell="quizlog fork RECORD K ANSWER", writes="record"),
    _a("player.amend", "A", "amend", "Amend", "change this answer and keep later ones while their questions match", shell="quizlog amend RECORD K ANSWER", writes="record"),
    _a("player.hold", "I,ctrl+o", "hold", "Hold", "let programs that answer this record wait, so that you can; again to give it back", writes="record"),
    _a("player.bisect", "B", "bisect", "Bisect", "find the answer that makes the outcome fail", shell="quizlog bisect RECORD"),
    _a("player.undo", "z,ctrl+z", "undo", "Undo", "undo the last change", shell="quizlog rewind RECORD K, quizlog switch RECORD NAME", writes="record"),
    _a("player.redo", "Z,ctrl+y", "redo", "Redo", "redo the change that was undone", shell="quizlog rewind RECORD K, quizlog switch RECORD NAME", writes="record"),
    _a("player.tree", "b", "tree", "Branches", "show the branches as a tree", footer=True, shell="quizlog branches RECORD"),
    _a("player.compare", "c", "compare", "Compare", "compare this branch with another, side by side", footer=True, shell="quizlog diff A B"),
    _a("player.sweep", "s", "sweep", "Sweep", "try many answers at this step", shell="quizlog sweep RECORD K ANSWER..."),
    _a("player.note", "a", "note", "Note", "write a note or verdict on this step", shell="quizlog feedback RECORD K TEXT", writes="notes"),
    _a("player.notes", "F", "notes", "Notes", "show all notes and verdicts", shell="quizlog feedback RECORD"),
    _a("player.watch", "V", "watch", "Watch", "watch an expression: its value at every step, in the timeline", shell="quizlog watch RECORD EXPR --keep", writes="expressions"),
    _a("player.until", "U", "until", "Until", "go to the next step at which an expression turns true", shell="quizlog watch RECORD EXPR", writes="expressions"),
    _a("player.effort", "t", "effort", "Times", "show who answered and how long it took, in sums", shell="quizlog steps RECORD"),
    _a("player.verify", "P", "verify", "Verify", "check that replays show what the record shows; again for how it was found", shell="quizlog verify RECORD"),
    _a("player.drift", "D", "drift", "Drift", "show how far each branch fits the script as it is now", shell="quizlog drift RECORD"),
    _a("player.giver", "at", "giver", "Answers by", "show only answers by one giver in the timeline, or all", shell="quizlog steps RECORD --by WHO"),
    _a("player.decision", "d", "decision", "Decision", "show how several models chose this answer", shell="quizlog decisions RECORD"),
    _a("player.ask", "m", "ask_models", "Ask models", "ask several models the pending question and decide", shell="quizlog solve RECORD", writes="record"),
    _a("player.episode", "E", "episode", "Episode", "write this branch to a file as an episode of training data", shell="quizlog episodes build RECORD --branch NAME", writes="record"),
    _a("player.source", "S", "source", "Source", "switch between the script's source and the answers"),
    _a("player.raw", "u", "raw", "Raw", "switch between drawn output and its escape sequences as text", shell="quizlog RECORD --raw"),
    _a("player.stderr", "w", "stderr", "Stderr", "show or hide what the script wrote to stderr", shell="quizlog RECORD --stderr"),
    _a("player.wrap", "W", "wrap", "Wrap", "switch between wrapping and cutting long lines of the output", shell="quizlog RECORD | less -S"),
    _a("player.previous_block", "left_curly_bracket", "block(-1)", "Block before", "scroll the output to the step before"),
    _a("player.next_block", "right_curly_bracket", "block(1)", "Next block", "scroll the output to the next step"),
    _a("player.fold", "o", "fold", "Fold", "show long outputs in full, or their first and last lines"),
    _a("player.formatted", "p", "formatted", "Laid out", "show this step's output with its Markdown, JSON and CSV laid out"),
    _a("player.difference", "equals_sign", "difference", "Difference", "show how this step's output differs from the step before, or from another branch's", shell="quizlog diff A B"),
    _a("player.right", "ctrl+right", "sideways(10)", "To the right", "scroll the focused pane to the right"),
    _a("player.left", "ctrl+left", "sideways(-10)", "To the left", "scroll the focused pane to the left"),
    _a("player.output", "1", "focus_pane('output')", "Output", "focus the output"),
    _a("player.answers", "2", "focus_pane('timeline')", "Answers", "focus the timeline"),
    _a("player.script", "3", "focus_pane('source')", "Script", "focus the source"),
    _a("player.recorded", "4", "beside('recorded')", "Whole answer", "show or hide the whole recorded answer beside the output", shell="quizlog steps RECORD --json"),
    _a("player.variables", "5", "beside('variables')", "Variables", "show or hide the script's variables at this step, with a line for expressions", shell="quizlog inspect RECORD K"),
    _a("player.expression", "semicolon", "expression", "Expression", "type an expression, to see its value at this step", shell="quizlog inspect RECORD K --expr E"),
    _a("player.lines", "6", "beside('lines')", "Lines", "show or hide the lines that ran before this step's question", shell="quizlog trace RECORD K"),
    _a("player.editor", "e", "editor", "Editor", "open the script at this line in $EDITOR", writes="record"),
    _a("player.reload", "R", "reload", "Reload", "read the record and the script again"),
    _a("player.previous_record", "H", "neighbour(-1)", "Previous record", "open the previous record of the library", shell="quizlog list"),
    _a("player.next_record", "L", "neighbour(1)", "Next record", "open the next record of the library", shell="quizlog list"),
    _a("player.library", "q", "leave", "Leave", "go back to the library, or leave quizlog", footer=True),
)  # fmt: skip

_LIBRARY = (
    _a("library.open", "l,right,o", "open", "Open", "open the selected record, like enter", footer=True, shell="quizlog tui RECORD"),
    _a("library.new", "plus,insert", "new", "New", "make a new record for a script", footer=True, shell="quizlog new SCRIPT", writes="record"),
    _a("library.status", "f", "status", "Status", "show only records with one status, or all", footer=True, shell="quizlog list --status error"),
    _a("library.narrow", "F", "narrow", "Narrow", "show only records by score, script, a note's author or verdict, or words", footer=True, shell="quizlog list --status error"),
    _a("library.sort", "s", "sort", "Sort", "sort by name, change, score or steps", footer=True, shell="quizlog list --sort score"),
    _a("library.turn", "S", "turn", "Reverse", "reverse the order"),
    _a("library.find_all", "ctrl+f,f3", "find_all", "Find all", "find in all records shown", footer=True, shell="quizlog find WORDS"),
    _a("library.episodes", "E", "episodes", "Episodes", "open a file of episodes", shell="quizlog episodes browse FILE"),
    _a("library.editor", "e", "editor", "Editor", "open the record's file in $EDITOR", writes="record"),
    _a("library.reload", "R", "reload", "Reload", "look for records again", shell="quizlog list"),
    _a("library.leave", "q", "leave", "Quit", "leave quizlog", footer=True),
)  # fmt: skip
_TREE = (
    _a("tree.go", "l,right", "go", "Go there", "switch to the selected branch and go back to the player, like enter", footer=True, shell="quizlog switch RECORD NAME"),
    _a("tree.switch", "space", "switch", "Switch", "switch to the selected branch and stay here", footer=True, shell="quizlog switch RECORD NAME"),
    _a("tree.fork", "f", "fork", "Fork", "start a new branch at a step of the selected one", footer=True, shell="quizlog fork RECORD K ANSWER", writes="record"),
    _a("tree.rename", "r", "rename", "Rename", "rename the selected branch", footer=True, shell="quizlog rename RECORD NAME NEW", writes="record"),
    _a("tree.note", "a", "note", "Note", "write a note on the selected branch", footer=True, shell="quizlog note RECORD NAME TEXT", writes="notes"),
    _a("tree.delete", "d,delete", "delete", "Delete", "hide the selected branch; its answers stay in the record", footer=True, shell="quizlog delete RECORD NAME", writes="record"),
    _a("tree.restore", "U", "restore", "Restore", "restore a deleted branch", shell="quizlog restore RECORD NAME", writes="record"),
    _a("tree.deleted", "D", "deleted", "Deleted", "show or hide deleted branches", shell="quizlog branches RECORD --deleted"),
    _a("tree.undo", "z,ctrl+z", "undo", "Undo", "undo the last change", footer=True, shell="quizlog restore RECORD NAME, quizlog switch RECORD NAME", writes="record"),
    _a("tree.redo", "Z,ctrl+y", "redo", "Redo", "redo the change that was undone", shell="quizlog delete RECORD NAME, quizlog switch RECORD NAME", writes="record"),
    _a("tree.reload", "R", "reload", "Reload", "read the record and the script again"),
    _a("tree.leave", "q,b", "leave", "Back", "go back to the player", footer=True),
)  # fmt: skip
_NOTES = (
    _a("notes.go", "l,right", "go", "Go there", "go to the step of the selected note, like enter", footer=True, shell="quizlog rewind RECORD K"),
    _a("notes.verdict", "f", "verdict", "Verdict", "show only notes with one verdict, or all", footer=True, shell="quizlog feedback RECORD --verdict wrong"),
    _a("notes.author", "w", "author", "Author", "show only notes by one author, or all", footer=True, shell="quizlog feedback RECORD --author NAME"),
    _a("notes.leave", "q,F", "leave", "Back", "go back to the player", footer=True),
)  # fmt: skip
_ASK = (
    _a("ask.accept", "a,enter", "accept", "Accept", "answer with the decision", footer=True, shell="quizlog solve RECORD --accept"),
    _a("ask.override", "o", "override", "Override", "edit the decision and answer yourself", footer=True, shell="quizlog RECORD ANSWER"),
    _a("ask.autopilot", "p", "autopilot", "Autopilot", "keep answering while the models agree; press again to stop", footer=True, shell="quizlog solve RECORD --until-end"),
    _a("ask.again", "m", "again", "Again", "ask the models again", shell="quizlog solve RECORD"),
    _a("ask.leave", "q", "leave", "Back", "go back to the player; the decision is saved", footer=True),
)  # fmt: skip
_COMPARE = (
    _a("compare.next", "right_square_bracket", "difference(1)", "Next difference", "go to the next difference", footer=True),
    _a("compare.previous", "left_square_bracket", "difference(-1)", "Previous difference", "go to the previous difference", footer=True),
    _a("compare.look", "enter", "look", "Show", "show the selected step in the player", footer=True),
    _a("compare.other", "c", "other", "Other", "compare with another branch or record", footer=True, shell="quizlog diff A B"),
    _a("compare.right", "ctrl+right", "sideways(10)", "To the right", "scroll wide tables to the right"),
    _a("compare.left", "ctrl+left", "sideways(-10)", "To the left", "scroll wide tables to the left"),
    _a("compare.leave", "q", "leave", "Back", "go back to the player", footer=True),
)  # fmt: skip
_PROOF = (
    _a("proof.go", "enter", "go", "Go there", "go to the step that differs", footer=True),
    _a("proof.drift", "d", "drift", "Drift", "show how far each branch fits the script as it is now", footer=True, shell="quizlog drift RECORD"),
    _a("proof.right", "ctrl+right", "sideways(10)", "To the right", "scroll wide tables to the right"),
    _a("proof.left", "ctrl+left", "sideways(-10)", "To the left", "scroll wide tables to the left"),
    _a("proof.leave", "q,P", "leave", "Back", "go back to the player", footer=True),
)  # fmt: skip
_DRIFT = (
    _a("drift.go", "l,right", "go", "Go there", "go to the step where the selected branch differs, like enter", footer=True),
    _a("drift.leave", "q,D", "leave", "Back", "go back to the player", footer=True),
)  # fmt: skip
_SWEEP = (
    _a("sweep.run", "f5,ctrl+s", "run", "Try", "try all answers in the box", footer=True, shell="quizlog sweep RECORD K ANSWER..."),
    _a("sweep.file", "f4,o", "file", "File", "read answers from a file, one per line", footer=True, shell="quizlog sweep RECORD K --from FILE"),
    _a("sweep.keep", "f", "keep", "Keep", "keep the selected answer as a branch; the active branch stays active", footer=True, shell="quizlog fork RECORD K ANSWER", writes="record"),
    _a("sweep.sort", "s", "sort", "Sort", "sort by score, or in the order tried", footer=True),
    _a("sweep.edit", "i", "edit", "Type", "type more answers", footer=True),
    _a("sweep.leave", "q", "leave", "Back", "go back to the player", footer=True),
)  # fmt: skip
_CONSENSUS = (
    _a("consensus.next", "right_square_bracket", "decision(1)", "Next decision", "go to the next decision", footer=True),
    _a("consensus.previous", "left_square_bracket", "decision(-1)", "Previous decision", "go to the previous decision", footer=True),
    _a("consensus.rule", "r", "rule", "Rule", "decide again by another rule; nothing is written", footer=True, shell="quizlog decisions RECORD"),
    _a("consensus.look", "enter", "look", "Show", "show the decision's step in the player", footer=True),
    _a("consensus.leave", "q,d", "leave", "Back", "go back to the player", footer=True),
)  # fmt: skip
_FIND = (
    _a("find.go", "l,right", "go", "Go there", "go to the step of the selected hit, like enter", footer=True),
    _a("find.list", "down", "list", "List", "move from the words to the list", footer=True),
    _a("find.regex", "ctrl+r,f4", "regex", "Regex", "switch between a regular expression and plain words", footer=True, shell="quizlog find WORDS --regex"),
    _a("find.leave", "q,f3,ctrl+f", "leave", "Back", "go back to the screen", footer=True),
)  # fmt: skip
_EPISODES = (
    _a("episodes.read", "l,right", "read", "Read", "show only the selected episode, like enter", footer=True),
    _a("episodes.list", "h,left", "list", "List", "show the list again", footer=True),
    _a("episodes.next", "right_square_bracket", "episode(1)", "Next episode", "go to the next episode"),
    _a("episodes.previous", "left_square_bracket", "episode(-1)", "Previous episode", "go to the previous episode"),
    _a("episodes.state", "f", "state", "Filter", "show only verified, unverified or unreadable episodes, or all", footer=True, shell="quizlog episodes stats FILE, quizlog episodes check FILE"),
    _a("episodes.jump", "number_sign", "jump", "Jump", "go to a line of the file by its number", footer=True),
    _a("episodes.reload", "R", "reload", "Reload", "read the file again, or the rest of it", shell="quizlog episodes browse FILE"),
    _a("episodes.leave", "q,E", "leave", "Back", "go back, or leave quizlog", footer=True),
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
    _a("help.leave", "q", "leave", "Back", "go back to the screen", footer=True),
)
_GUIDES = (
    _a(
        "guides.read",
        "l,right",
        "read",
        "Read",
        "move to the text, like enter",
        footer=True,
        shell="quizlog help TOPIC",
    ),
    _a("guides.leave", "q,o", "leave", "Back", "go back to the screen", footer=True),
)

_COMMAND = (_a("command.leave", "q", "leave", "Back", "go back to the screen", footer=True),)

_READING = (
    _a("reading.right", "ctrl+right", "sideways(10)", "To the right", "scroll wide tables to the right"),
    _a("reading.left", "ctrl+left", "sideways(-10)", "To the left", "scroll wide tables to the left"),
    _a("reading.leave", "q,p,equals_sign", "leave", "Back", "go back to the player", footer=True),
)  # fmt: skip
_MESSAGES = (_a("messages.leave", "q", "leave", "Back", "go back to the screen", footer=True),)

ACTIONS: dict[str, tuple[Action, ...]] = {
    "app": _EVERYWHERE,
    "pane": _PANE,
    "list": _LIST,
    "player": _PLAYER,
    "library": _LIBRARY,
    "tree": _TREE,
    "notes": _NOTES,
    "ask": _ASK,
    "compare": _COMPARE,
    "proof": _PROOF,
    "drift": _DRIFT,
    "sweep": _SWEEP,
    "consensus": _CONSENSUS,
    "find": _FIND,
    "episodes": _EPISODES,
    "help": _HELP,
    "guides": _GUIDES,
    "command": _COMMAND,
    "reading": _READING,
    "messages": _MESSAGES,
}
"""All actions by scope, in the order of the help."""


def find_action(id: str | None) -> Action | None:
    """The action with an id; None for a key that the table does not know."""
    return next((action for action in all_actions() if action.id == id), None)


def all_actions() -> list[Action]:
    """Every action of every scope."""
    return [action for actions in ACTIONS.values() for action in actions]


SCREENS: dict[str, tuple[str, ...]] = {
    "player": (),
    "tree": ("escape", "b"),
    "compare": ("escape", "c", "enter"),
    "consensus": ("escape", "d"),
    "sweep": ("escape", "s"),
    "library": (),
    "episodes": (),
}
"""Each screen with the keys that open it from the first one."""
