"""What of Python only type checkers read: a change of that alone needs no test, a change of anything else does."""

import pytest

from detent.evidence.changes.no_substance import only_hints_changed

PLAIN = "def half(n, by=2):\n    left = n / by\n    return left\n"
HINTED = (
    "from __future__ import annotations\n\nimport typing\nfrom collections.abc import Callable\nfrom typing import TYPE_CHECKING, TypeVar, cast, overload\n\n"
    "if TYPE_CHECKING:\n    from fractions import Fraction\n\nT = TypeVar('T')\n\n\n@overload\ndef half(n: int) -> float: ...\n@overload\ndef half(n: Fraction) -> Fraction: ...\n"
    "def half(n: int, by: int = 2) -> float:\n    left: float = cast(float, n / by)\n    return left\n"
)
METHOD = "class Till:\n    total = 0\n\n    @property\n    def size(self):\n        return self.total\n"
GENERIC = "from typing import Generic, TypeVar\n\nT = TypeVar('T')\n\n\n"
HINTED_METHOD = (
    f"{GENERIC}class Till(Generic[T]):\n    total: int = 0\n\n    @property\n    def size(self) -> int:\n        return self.total\n"
)
SAME = {
    "a function": (PLAIN, HINTED),
    "a method and a plain class": (METHOD, HINTED_METHOD),
    "hints that became others": ("def f(x: int) -> int:\n    return x\n", "def f(x: 'int | str') -> 'int | str':\n    return x\n"),
}
OTHER = {
    "a default": (PLAIN, PLAIN.replace("by=2", "by=3")),
    "a value beside the hint": ("n: int = 1\n", "n: int = 2\n"),
    "a field of a dataclass": ("@dataclass\nclass A:\n    n: int = 0\n", "@dataclass\nclass A:\n    n: str = 0\n"),
    "a field of a model": ("class A(BaseModel):\n    n: int\n", "class A(BaseModel):\n    n: str\n"),
    "a hint that a decorator reads": ("@app.get('/')\ndef f(n: int):\n    return n\n", "@app.get('/')\ndef f(n: str):\n    return n\n"),
    "a hint that calls": ("def f(n: Annotated[int, Ge(0)]):\n    return n\n", "def f(n: Annotated[int, Ge(1)]):\n    return n\n"),
    "what stands in its branch for programs": (
        "if TYPE_CHECKING:\n    import a\nelse:\n    a = 1\n",
        "if TYPE_CHECKING:\n    import a\nelse:\n    a = 2\n",
    ),
    "a cast of somebody else's": ("from sqlalchemy import cast\nx = cast(a, b)\n", "from sqlalchemy import cast\nx = cast(c, b)\n"),
    "a cast of its own": ("def cast(a, b):\n    return a\nx = cast(a, b)\n", "def cast(a, b):\n    return a\nx = cast(c, b)\n"),
    "a type that is made as it runs": ("from types import SimpleNamespace\n", "from types import MappingProxyType\n"),
    "what does not parse": ("def f(:\n", "def f(x:\n"),
}


@pytest.mark.parametrize(("old", "new"), SAME.values(), ids=SAME)
def test_versions_that_differ_in_hints_alone_do_the_same(old: str, new: str) -> None:
    assert only_hints_changed("calc.py", old, new) and only_hints_changed("calc.py", new, old)
    assert not only_hints_changed("calc.ts", old, new)


@pytest.mark.parametrize(("old", "new"), OTHER.values(), ids=OTHER)
def test_versions_that_differ_in_what_programs_read_do_not(old: str, new: str) -> None:
    assert not only_hints_changed("calc.py", old, new)
