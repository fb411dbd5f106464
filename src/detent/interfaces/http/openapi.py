"""The OpenAPI document, made from the table of routes and their shapes."""

import re
from typing import Any

import msgspec

from detent import __version__
from detent.interfaces.http import shapes
from detent.interfaces.http import shapes_execute as work
from detent.interfaces.http.routes import PLAIN, ROUTES, Route
from detent.interfaces.http.shape import Shape

STREAMS: dict[str, tuple[type[Shape], str]] = {
    "/api/runs/{run}/stream": (shapes.StreamAsked, "The events of a run as server-sent events, from `after` on."),
    "/api/executions/{id}/stream": (work.LogsAsked, "What an execution writes, as server-sent events, until it has ended."),
    "/api/stream": (shapes.EverythingAsked, "Every run that changes, with the events of one run or the output of one execution."),
}
FAULTS = {
    "400": "The request is not valid.",
    "401": "The token is missing or wrong.",
    "403": "The request comes from another site.",
    "404": "There is no such thing.",
    "409": "It cannot be done now: something works on it, or it changed in the meantime.",
    "421": "This server does not answer to that name.",
    "422": "It was understood but cannot be done; the sentence says why.",
    "500": "The journal cannot be used, or a bug.",
}
RESUMES = {
    "name": "Last-Event-ID",
    "in": "header",
    "required": False,
    "schema": {"type": "string"},
    "description": "The id of the last event seen; comes before `after`.",
}


def page() -> dict[str, Any]:
    """The whole document."""
    types: list[Any] = list(dict.fromkeys([*(r.gives for r in ROUTES), *(r.takes for r in (*ROUTES, *PLAIN)), *(r.gives for r in PLAIN)]))
    types += [shapes.ErrorAnswer, *(takes for takes, _ in STREAMS.values() if takes not in types)]
    refs, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    by_type = dict(zip(types, refs, strict=True))
    paths: dict[str, Any] = {}
    for route in (*ROUTES, *PLAIN):
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, by_type, components)
        if route in PLAIN:
            paths[route.path][route.method.lower()]["security"] = []
    for path, (takes, says) in STREAMS.items():
        text = {"text/event-stream": {"schema": {"type": "string"}}}
        answers = {"200": {"description": "A stream.", "content": text}} | _faults(by_type)
        asked = [*_in_path(path), RESUMES, *_in_query(takes, components)]
        paths[path] = {"get": {"summary": says, "parameters": asked, "responses": answers}}
    bearer = {"bearer": {"type": "http", "scheme": "bearer"}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Detent", "version": __version__, "description": "Runs, events and decisions of one repository."},
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": bearer},
    }


def _operation(route: Route, by_type: dict[Any, Any], components: dict[str, Any]) -> dict[str, Any]:
    answers = _answers(by_type[route.gives], route.status) | _faults(by_type)
    found: dict[str, Any] = {"summary": route.says, "parameters": _in_path(route.path), "responses": answers}
    if route.method == "POST":
        found["requestBody"] = {"required": True, "content": {"application/json": {"schema": by_type[route.takes]}}}
    else:
        found["parameters"] += _in_query(route.takes, components)
    return found


def _in_query(takes: type[Shape], components: dict[str, Any]) -> list[dict[str, Any]]:
    schema = components[takes.__name__]
    needed = schema.get("required", ())
    return [{"name": n, "in": "query", "required": n in needed, "schema": s} for n, s in schema.get("properties", {}).items()]


def _faults(by_type: dict[Any, Any]) -> dict[str, Any]:
    fault = {"application/json": {"schema": by_type[shapes.ErrorAnswer]}}
    return {code: {"description": says, "content": fault} for code, says in FAULTS.items()}


def _answers(schema: Any, status: int) -> dict[str, Any]:
    return {str(status): {"description": "Done.", "content": {"application/json": {"schema": schema}}}}


def _in_path(path: str) -> list[dict[str, Any]]:
    return [{"name": n, "in": "path", "required": True, "schema": {"type": "string"}} for n in re.findall(r"\{(\w+)\}", path)]
