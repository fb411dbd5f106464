"""What every shape of the API is: a frozen value that refuses fields it does not know."""

import msgspec


class Shape(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A frozen value that refuses fields it does not know."""
