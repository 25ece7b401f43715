"""Reads from its source whether a script waits at once for a thread or program that it starts.

If it waits before it does anything else, the start is like a call. Otherwise both run in parallel,
and their order cannot be fixed. The source is read instead of the run being watched, so that the
result is the same in every run. If the source cannot be read, the start counts as not waited for.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from ast import AST as Node


TYPE_CHECKING = False

_FOR_THREADS = frozenset({"join", "result", "shutdown"})
_FOR_PROGRAMS = frozenset({"join", "wait", "read", "readlines"})
"""Methods that wait for the end if called without arguments, such as a time-out."""
_LOOPS, _TAKES_ALL = "run_until_complete", "communicate"
_BY_NUMBER = frozenset({"waitpid", "wait4"})
_EXHAUSTS = frozenset({"list", "tuple", "set", "sorted", "sum", "max", "min", "dict"})
_SHUT_AT_END = frozenset({"ThreadPoolExecutor", "Popen"})
"""Context managers that wait at the end of their block."""
_import = __import__  # the original: a script may put another in its place


class WaitReader:
    """One source file, and the calls in it.

    Args:
        source: The bytes of the file.
    """

    def __init__(self, source: bytes) -> None:
        # Imported on demand, as it takes long; a plain import fails once the script runs.
        globals()["ast"] = _import("ast")
        self._above: dict[Node, Node] = {}
        self._calls: dict[tuple[int | None, int | None], ast.Call] = {}
        for node in ast.walk(ast.parse(source)):
            self._above.update((below, node) for below in ast.iter_child_nodes(node))
            if isinstance(node, ast.Call):
                self._calls[node.end_lineno, node.end_col_offset] = node

    def is_waited_for(self, line: int | None, column: int | None, *, thread: bool) -> bool | None:
        """Whether what a call starts is waited for before anything else is done.

        Args:
            line: The line in which the call ends.
            column: The end of the call in that line, in bytes.
            thread: Whether it starts a thread. `await` waits for a thread, but only for the start
                of a program.

        Returns:
            None if the caller of the function decides that.
        """
        call = self._calls.get((line, column))
        return False if call is None else _Start(self._above, call, thread).waited(call)


class _Start:
    """A call that starts a thread or a program."""

    def __init__(self, above: dict[Node, Node], call: ast.Call, thread: bool) -> None:
        self._above = above
        self._thread = thread
        self._forks = _name(call) == "fork"
        self._maps = _name(call) == "map"

    def waited(self, node: Node) -> bool | None:
        """Whether the code after `node` waits, if the call's value is only passed on there."""
        above = self._above[node]
        match above:
            case ast.Await():
                return True if self._thread else self.waited(above)
            case ast.Attribute() | ast.NamedExpr() | ast.Subscript():
                return self.waited(above)
            case ast.Call():
                return self._waits(above) or (self._maps and _name(above) in _EXHAUSTS)
            case ast.withitem():
                block = self._above[above]
                return isinstance(block, ast.With | ast.AsyncWith) and self._begins(block.body[0])
            case ast.Return():
                return None
            case ast.Expr() | ast.Assign(targets=[ast.Name()]) | ast.AnnAssign():
                return self._next(above)
        return self._forks and self._parted(above)

    def _next(self, statement: Node) -> bool | None:
        """Whether the code after a statement waits."""
        above, after = self._above[statement], self._after(statement)
        if isinstance(after, ast.Return) and isinstance(after.value, ast.Name):
            return None
        if after is not None:
            parts = self._forks and isinstance(after, ast.If)
            return self._parted(after) if parts else self._begins(after)
        match above:
            case ast.With(items=items) | ast.AsyncWith(items=items):
                return any(_name(item.context_expr) in _SHUT_AT_END for item in items)
            case ast.Try(finalbody=[first, *_]):
                return self._begins(first)
            case ast.If() | ast.Try():
                return self._next(above)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return None
        return False

    def _after(self, statement: Node) -> Node | None:
        """The next statement of the same block."""
        for _, block in ast.iter_fields(self._above[statement]):
            if isinstance(block, list) and statement in block:
                rest: list[Node] = block[block.index(statement) + 1 :]
                return rest[0] if rest else None
        return None

    def _parted(self, node: Node) -> bool:
        """Whether the parent's side of an `if` waits for the child of a fork."""
        while not isinstance(node, ast.stmt):
            node = self._above[node]
        if not isinstance(node, ast.If):
            return False
        after = None if node.orelse else self._after(node)
        sides = (node.body[0], *node.orelse[:1], *([after] if after else []))
        return any(map(self._begins, sides))

    def _begins(self, statement: Node) -> bool:
        """Whether a statement waits before it does anything else."""
        match statement:
            case ast.Try(body=[first, *_]):
                return self._begins(first)
            case ast.If(test=value) | ast.Assert(test=value):
                return self._waits(_first(value))
            case ast.Expr(value=value) | ast.Assign(value=value) | ast.Return(value=value):
                return self._waits(_first(value))
        return False

    def _waits(self, node: Node | None) -> bool:
        match node:
            case ast.Await():
                return self._thread
            case ast.Call(args=args, keywords=keywords):
                name = _name(node)
                if name in (_FOR_THREADS if self._thread else _FOR_PROGRAMS):
                    return not args and not keywords
                last = args[-1] if args else None
                to_the_end = isinstance(last, ast.Constant) and last.value == 0
                by_number = name in _BY_NUMBER and to_the_end
                return name == (_LOOPS if self._thread else _TAKES_ALL) or by_number
        return False


def _first(node: Node | None) -> Node | None:
    """What an expression calls or awaits before it reads anything else."""
    match node:
        case ast.Await(value=ast.Name()):
            return node
        case ast.Call(func=ast.Attribute(value=value)):
            return _first(value) or node
        case ast.Call(func=ast.Name(), args=[value, *_]):
            return _first(value) or node
        case ast.Await(value=value) | ast.Attribute(value=value) | ast.Subscript(value=value):
            return _first(value)
        case ast.Compare(left=value) | ast.BinOp(left=value) | ast.UnaryOp(operand=value):
            return _first(value)
    return node if isinstance(node, ast.Call) else None


def _name(node: Node) -> str:
    """The last part of what is called or named."""
    match node:
        case ast.Call(func=func):
            return _name(func)
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""
