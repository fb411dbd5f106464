"""Forges: the services that keep a project's issues and pull requests, by their REST APIs. Knows no git, no runs and no items."""

from detent.forge.api import Api, ForgeError, NotThere
from detent.forge.place import KINDS, Where, where_of
from detent.forge.token import Login, token_of

__all__ = ["KINDS", "Api", "ForgeError", "Login", "NotThere", "Where", "token_of", "where_of"]
