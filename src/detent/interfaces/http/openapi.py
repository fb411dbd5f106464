"""The OpenAPI page, made from the table of routes and the shapes they name."""

import re
from typing import Any

import msgspec

from detent import __version__
from detent.interfaces.http import shapes
from detent.interfaces.http.routes import ROUTES, Route

STREAMS = {
    "/api/runs/{run}/stream": "The events of a run as server-sent events; Last-Event-ID (or ?after=) says which was seen last.",
    "/api/executions/{id}/stream": "What an execution writes, as server-sent events.",
    "/api/stream": "Every run that changes, as server-sent events.",
}
FAULTS = {"400": "What was sent does not fit.", "401": "No token.", "404": "There is no such thing.", "409": "It cannot be done now."}


def page() -> dict[str, Any]:
    """The whole document."""
    types = list(dict.fromkeys([*(r.gives for r in ROUTES), *(r.takes for r in ROUTES), shapes.Fault, shapes.Health]))
    refs, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    by_type = dict(zip(types, refs, strict=True))
    paths: dict[str, Any] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, by_type, components)
    for path, says in STREAMS.items():
        text = {"text/event-stream": {"schema": {"type": "string"}}}
        answers = {"200": {"description": "A stream.", "content": text}}
        paths[path] = {"get": {"summary": says, "parameters": _in_path(path), "responses": answers}}
    paths["/health"] = {"get": {"summary": "Whether the server runs.", "security": [], "responses": _answers(by_type[shapes.Health], 200)}}
    bearer = {"bearer": {"type": "http", "scheme": "bearer"}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Detent", "version": __version__, "description": "Runs, events and decisions of one repository."},
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": bearer},
    }


def _operation(route: Route, by_type: dict[Any, Any], components: dict[str, Any]) -> dict[str, Any]:
    fault = {"application/json": {"schema": by_type[shapes.Fault]}}
    answers = _answers(by_type[route.gives], route.status) | {
        code: {"description": says, "content": fault} for code, says in FAULTS.items()
    }
    found: dict[str, Any] = {"summary": route.says, "parameters": _in_path(route.path), "responses": answers}
    if route.method == "POST":
        found["requestBody"] = {"required": True, "content": {"application/json": {"schema": by_type[route.takes]}}}
    else:
        schema = components[route.takes.__name__]
        needed = schema.get("required", ())
        found["parameters"] += [
            {"name": n, "in": "query", "required": n in needed, "schema": s} for n, s in schema.get("properties", {}).items()
        ]
    return found


def _answers(schema: Any, status: int) -> dict[str, Any]:
    return {str(status): {"description": "Done.", "content": {"application/json": {"schema": schema}}}}


def _in_path(path: str) -> list[dict[str, Any]]:
    return [{"name": n, "in": "path", "required": True, "schema": {"type": "string"}} for n in re.findall(r"\{(\w+)\}", path)]
