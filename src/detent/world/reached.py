"""A tracker or a forge that is silent is no verdict on the work: its silence is "cannot tell"."""

from collections.abc import Iterator
from contextlib import contextmanager

from detent.errors import Away, Unreached


@contextmanager
def reached() -> Iterator[None]:
    """A tracker that cannot be reached says nothing about the item. One that says when to ask again is left until then, and that counts nothing."""
    try:
        yield
    except Unreached as e:
        if e.until:
            raise
        raise Away("tracker", f"{e.message} ({e.hint})" if e.hint else e.message) from e
