"""The page at `/docs`: the description of the interface as HTML without scripts.

It shows the content of `/openapi.json` and loads nothing. All text in it is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

HEADERS = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'"}
"""Headers that forbid the browser to load anything for the page."""
_STYLE = (
    "body{font:16px/1.5 sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem}"
    "code{font-size:.95em}td{padding:0 1.5rem 0 0;vertical-align:top}h2{margin-top:2.5rem}"
)
Described = Mapping[str, Any]
"""A part of an OpenAPI description."""


def docs_page(described: Described) -> str:
    """The HTML page for an OpenAPI description."""
    title = escape(f"{described['info']['title']} {described['info']['version']}")
    schemas = described.get("components", {}).get("schemas", {})
    routes = "".join(
        _route(method.upper(), path, route, schemas)
        for path, methods in described["paths"].items()
        for method, route in methods.items()
    )
    about = '<p>In machine-readable form: <a href="/openapi.json">/openapi.json</a></p>'
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
    return f"{head}<style>{_STYLE}</style><h1>{title}</h1>{about}{routes}</html>"


def _route(method: str, path: str, route: Described, schemas: Described) -> str:
    head = f"<h2><code>{method} {escape(path)}</code></h2><p>{escape(route.get('summary', ''))}</p>"
    queries = [_row(one["name"], one["schema"], one) for one in route.get("parameters", ())]
    bodies = [
        f"<p>{escape(form.get('description', 'Body'))}</p>{_table(_fields(form))}"
        for content in route.get("requestBody", {}).get("content", {}).values()
        for form in _forms(content["schema"], schemas)
    ]
    replies = [
        f"<tr><td><code>{escape(status)}</code><td>{escape(reply.get('description', ''))}"
        for status, reply in route["responses"].items()
    ]
    return f"{head}{_table(queries)}{''.join(bodies)}<p>Replies</p>{_table(replies)}"


def _table(rows: list[str]) -> str:
    return f"<table>{''.join(rows)}</table>" if rows else ""


def _forms(schema: Described, schemas: Described) -> Iterator[Described]:
    """The object schemas that a value may have, each followed by the ones nested in it."""
    if "$ref" in schema:
        schema = schemas[schema["$ref"].rpartition("/")[2]]
    if "properties" in schema:
        yield schema
    for inner in (*schema.get("oneOf", ()), *schema.get("properties", {}).values()):
        yield from _forms(inner, schemas)


def _fields(form: Described) -> list[str]:
    required = form.get("required", ())
    return [
        _row(name, schema, schema | {"required": name in required})
        for name, schema in form.get("properties", {}).items()
    ]


def _row(name: str, schema: Described, said: Described) -> str:
    needed = "required" if said.get("required") else "optional"
    cells = [f"<code>{escape(name)}</code>", escape(_kind(schema)), needed]
    return "<tr>" + "".join(f"<td>{cell}" for cell in (*cells, escape(said.get("description", ""))))


def _kind(schema: Described) -> str:
    """The type of a value in a few words."""
    if "anyOf" in schema:
        return " or ".join(map(_kind, schema["anyOf"]))
    if "enum" in schema:
        return " or ".join(map(str, schema["enum"]))
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    kind = str(schema.get("type", "any"))
    return f"list of {_kind(schema['items'])}" if kind == "array" and "items" in schema else kind
