"""Random looks at scripts, nasty ones among them, leave every run as it was."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from quizlog_tui.debug.inspection import ValuePath
from quizlog_tui.errors import LimitError, ProtocolError, UsageError
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import Record
from quizlog_tui.record.store import RecordFile
from quizlog_tui.replay.replayer import Replayer
from quizlog_tui.session.session import Session
from tests.support.build import Build
from tests.support.corpus import CORPUS

NASTY = """\
    import collections, sys
    class Meta(type):
        def __eq__(self, other): raise SystemExit(1)
        def __hash__(self): raise KeyError
        def __getattribute__(self, name): input(name)
        def __instancecheck__(self, one): return True
    class Strange(metaclass=Meta):
        pass
    class Liar:
        @property
        def __class__(self): print("asked"); raise SystemExit(2)
        @property
        def __dict__(self): return input("dict? ")
        def __getattr__(self, name): input(name)
    class Endless:
        def __repr__(self):
            while True: pass
    class Asking:
        def __repr__(self): print("printed"); return input("repr? ")
    class Leaving:
        def __repr__(self): import os; os._exit(4)
    class Huge:
        def __repr__(self): return "x" * 10_000_000
    class Same(str):
        __hash__ = None
        def __eq__(self, other): raise KeyError
    class Word(dict):
        def __iter__(self): raise KeyError
        keys = items = values = __len__ = __iter__
    class Space(dict):
        def keys(self): return dict.keys(self) if calm else input("keys? ")
        __iter__ = items = keys
    class Prepared(type):
        @classmethod
        def __prepare__(cls, name, bases): return Space()
    class Wrong(Exception):
        def __str__(self): raise SystemExit(5)
        @property
        def __notes__(self): raise SystemExit(3)
        __cause__ = property(lambda self: self)
    strange, liar, endless, asking = Strange(), Liar(), Endless(), Asking()
    leaving, huge, same, word = Leaving(), Huge(), Same("x"), Word(a=1)
    deep, around, many = [], [], list(range(100_000))
    for _ in range(2000): deep = [deep]
    around.append(around); around.append({"a": around})
    counted = collections.Counter(range(100_000))
    boxed = {"all": [strange, liar, endless, asking, huge, word]}
    globals()["x" * 5000] = globals()[7] = None
    calm = False
    def ask(inner):
        first = input("first? ")
        strange.more = Liar()
        boxed[first] = [leaving, inner]
        return first
    class Body(metaclass=Prepared):
        second = ask(endless)
        globals().update(calm=True)
    third = input("third? ")
    error = Wrong(third)
    error.__dict__["__notes__"] = [asking, "note", 3]
    raise error
    """
TEXTS = ["boxed", "deep", "around", "many", "word", "counted", "liar", "error", "1 / 0", "first"]
SCRIPTS = {"nasty": (NASTY, ["a", "b"])} | {
    name: CORPUS[name] for name in ("generators", "bare except", "try finally", "thread", "cmd")
}


def looked_at(session: Session, chance: random.Random) -> None:
    """One look of any kind, which may be refused in a line."""
    step = chance.randrange(len(session.transcript.inputs) + 1)
    paths = [
        ValuePath(
            chance.choice([None, 0, 1]),
            chance.choice(TEXTS),
            tuple(chance.randrange(3) for _ in range(chance.randrange(4))),
        )
        for _ in range(chance.randrange(5))
    ]
    try:
        if chance.random() < 0.3:
            session.trace(step)
            return
        expressions = chance.sample([*TEXTS, "globals().clear()", "x = 3", "input()"], 2)
        frame = chance.choice([0, 0, 1])
        found = session.inspect(step, frame=frame, expressions=expressions, opened=paths)
        assert [one.path for one in found.opened] == paths
    except (UsageError, LimitError) as error:
        assert not isinstance(error, ProtocolError)
        assert "\n" not in str(error)


def walked(build: Build, count: int) -> None:
    chance = random.Random(count)
    with Replayer() as replayer:
        sessions = []
        for at, (text, answers) in enumerate(SCRIPTS.values()):
            script, record = build.script(text, f"quiz{at}.py"), build.folder / f"r{at}.yaml"
            sessions.append(opened_session(script, record, answers, replayer))
        before = [session.transcript for session in sessions]
        stored = [session.path.read_bytes() for session in sessions]
        for _ in range(count):
            looked_at(chance.choice(sessions), chance)
        for at, session in enumerate(sessions):
            assert session.transcript == before[at]
            assert session.path.read_bytes() == stored[at]
            again = replayer.replay(session.source, 7, session.transcript.inputs)
            assert again.stdout == before[at].stdout
            assert again.status == before[at].status
            session.close()


def opened_session(script: Path, record: Path, answers: list[str], replayer: Replayer) -> Session:
    RecordFile(record).create(Record(script.name, 7, AppendOnlyList(), 0))
    session = Session(record, replayer)
    for answer in answers:
        session.answer(answer)
    return session


def test_random_looks_change_no_run(build: Build) -> None:
    walked(build, 60)


@pytest.mark.long
def test_very_many_random_looks_change_no_run(build: Build) -> None:
    walked(build, 500)


def test_each_nasty_value_has_its_line(build: Build) -> None:
    with Session(build.record(NASTY)) as session:
        names = ("strange", "liar", "word", "boxed", "deep", "around")
        found = session.inspect(0, opened=[ValuePath(None, name) for name in names])
        session.answer("a")
        session.answer("b")
        error = session.inspect().error
    texts = {one.name: one.text for one in found.globals}
    assert texts["endless"] == "<its repr takes too long>"
    assert texts["asking"] == "<its repr raised EOFError>"
    assert texts["leaving"] == "<its repr raised SystemExit>"
    assert (texts["same"], len(texts["huge"])) == ("'x'", 200)
    assert {"strange", "liar", "word", "deep", "around", "counted"} <= set(texts)
    strange, liar, word, boxed, deep, around = found.opened
    assert {one.error for one in found.opened} == {None}
    assert (strange.children, liar.children) == ((), ())
    assert [(one.name, one.text) for one in word.children] == [("['a']", "1")]
    assert (len(boxed.children), len(deep.children), len(around.children)) == (1, 1, 2)
    assert error and (error.type, error.cause) == ("__main__.Wrong", None)
    assert error.message == "<its repr raised SystemExit>"
    assert error.notes == ("<its repr raised EOFError>", "note", "3")


def test_a_value_of_ten_million_items_is_looked_at(build: Build) -> None:
    text = """\
        import collections
        many = list(range(10_000_000))
        class Row(list): pass
        row = Row(many)
        input("? ")
        """
    with Session(build.record(text)) as session:
        found = session.inspect(0, opened=[ValuePath(None, "many"), ValuePath(None, "row")])
    assert [(len(one.children), one.more) for one in found.opened] == [(100, 9_999_900)] * 2
