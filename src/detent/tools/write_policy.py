"""What may be written in a state, as a question about one path. Knows patterns; asks no file and no run."""

from collections.abc import Callable

from detent.kernel.permit import Permit, why_not
from detent.tools.globs import expression


def writable(
    globs: tuple[str, ...], protected: tuple[str, ...], phase: str = "", is_test: Callable[[str], bool] = lambda path: False
) -> Callable[[str], str | None]:
    """The question whether a path may be written: None if so, else why not. What is protected stays so whatever the globs say."""
    permit = Permit(list(globs), list(protected), phase)
    return lambda path: why_not(permit, path, is_test, matches)


def matches(glob: str, path: str, any_case: bool) -> bool:
    return expression(glob, any_case=any_case).fullmatch(path) is not None
