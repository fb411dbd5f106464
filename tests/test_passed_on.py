"""Handlers that pass on what they caught: where, in which languages, and at which lines."""

import pytest

from detent.evidence.mutate.passed_on import passed_on

PYTHON = (
    'try:\n    a()\nexcept OSError:\n    pass\nexcept ValueError as e:\n    return f("é", e)\nexcept KeyError:\n    if x:\n        y()\n'
)
SCRIPT = (
    "try { a(); } catch (e) {\n  return e;\n}\n// catch (e) {\ntry { b(); } catch { return 'catch (e) {'; }\np.catch((e) => { c(); });\n"
)


def test_each_handler_of_python_raises_again_first() -> None:
    made = passed_on("a.py", PYTHON, range(1, 20))
    assert made == PYTHON.replace("    pass", "    raise; pass").replace("    return", "    raise; return")


def test_each_catch_of_a_script_throws_again_first() -> None:
    made = passed_on("a.js", SCRIPT, range(1, 20))
    assert made == SCRIPT.replace("} catch (e) {\n", "} catch (e) { throw e;\n").replace("catch {", "catch (caught) { throw caught;")


@pytest.mark.parametrize(("path", "text"), [("a.py", PYTHON), ("a.py", "def f(:\n"), ("a.js", SCRIPT), ("a.go", "if err != nil {\n}\n")])
def test_other_lines_and_other_languages_stay(path: str, text: str) -> None:
    assert passed_on(path, text, {99}) == text
