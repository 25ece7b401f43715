"""The minimal structure of an episode is part of its schema."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from quizlog_tui.episodes.format import shape
from quizlog_tui.episodes.format.schema import Episode


def test_the_minimal_structure_is_part_of_the_schema() -> None:
    assert list(differences(shape._EPISODE, Episode)) == []


def differences(form: Any, kind: Any, path: str = "") -> list[str]:
    """The paths at which a minimal form asks for another type than the schema."""
    if isinstance(form, dict):
        known = get_type_hints(kind)
        inner = [(form[key], known.get(key), f"{path}.{key}") for key in form]
        return [path for each in inner for path in differences(*each)]
    if isinstance(form, list):
        return differences(form[0], *get_args(kind), f"{path}[]")
    wanted = set(form) if isinstance(form, tuple) else {form}
    return [] if wanted == plain_types(kind) else [path]


def plain_types(kind: Any) -> set[Any]:
    """The classes of the values that a type of the schema stands for."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return {object}
    if origin is Annotated:
        return plain_types(inner[0])
    if origin is Literal:
        return {type(value) for value in inner}
    if origin in (Union, UnionType):
        return {each for one in inner for each in plain_types(one)}
    return {NoneType if kind is None else origin or kind}
