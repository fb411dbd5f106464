"""The proof card as words: short lines for where a run is shown, markdown for a pull request. Values in, texts out."""

import re

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from detent.blocks.check_card import LONGEST, lines_of, markdown_of, object_of, short_of
from detent.evidence.outcomes.card import Card, Change, Checked
from detent.git.commits import Commit
from detent.kernel.model import Flag

VAT = Flag(
    "rewritten-test",
    "the expectation of an older test changed",
    "tests/test_tax.py:4",
    "assert vat(100) == 19\n",
    "assert vat(100) == 20\n",
)
NOTE = Flag("weak-evidence", "not everything was tried", level="note")
CARD = Card(
    "b" * 40, "t" * 40, proved=("tests/test_a.py::test_a",), pins=("tests/test_a.py::test_p",), kept=3, flags=(NOTE, VAT), seconds=4.2
)
CHANGE = Change(
    "main…feat/a", "c" * 40, CARD.base, CARD.tip, (Commit("d" * 40, CARD.tip, ("c" * 40,), "feat: a"),), "", ("a.py", "tests/test_a.py")
)


def checked(**more: object) -> Checked:
    return Checked(CHANGE, msgspec.structs.replace(CARD, **more), "pytest", "bubblewrap")


def test_a_card_in_short_counts_and_names_nothing() -> None:
    assert short_of(checked()) == [
        "main…feat/a  1 commit, 2 files",
        "proved     1 test fails without this change and passes with it",
        "pins       1 test is new and passes on both sides",
        "kept       3 old tests pass as before; none lost, none newly skipped",
        "FLAGGED    1 to look at  4.2 s",
    ]
    for count, said in ((1, "1 test failed before and still fails"), (2, "2 tests failed before and still fail")):
        assert f"known      {said}" in lines_of(checked(known=tuple(f"t.py::{n}" for n in range(count))))
    assert (
        short_of(checked(out=("tests/test_a.py::test_o",)))[3] == "kept       3 old tests pass as before; 1 taken out, none newly skipped"
    )
    assert short_of(checked(), CARD.tip)[-1] == "FLAGGED    1 looked at and accepted  4.2 s"
    assert short_of(checked(), "another")[-1] == "FLAGGED    1 to look at  4.2 s"
    assert short_of(checked(suites=1.0))[-1].endswith("4.2 s, 1 test run")
    assert short_of(checked(failed=("test_x is gone",)))[-2:] == ["failed     test_x is gone", "FAILED     4.2 s"]
    assert "unclear    the base does not build" in short_of(checked(unclear="the base does not build"))
    assert len(lines_of(checked(proved=tuple(f"t::{n}" for n in range(9))), verbose=True)) > len(
        lines_of(checked(proved=tuple(f"t::{n}" for n in range(9))))
    )


def test_the_text_of_a_pull_request_lists_what_to_look_at_with_both_versions_and_says_whether_it_was_accepted() -> None:
    text = markdown_of(checked())
    assert text.startswith("### Detent: flagged — main…feat/a, 1 commit, 2 files\n")
    assert "| proved | `tests/test_a.py::test_a` |" in text and "| pins | `tests/test_a.py::test_p` |" in text
    looked, notes = text.split("<details>")
    assert (
        "**To look at**\n\n- [ ] **rewritten-test** `tests/test_tax.py:4`: " in looked
        and "  - assert vat(100) == 19\n  + assert vat(100) == 20\n" in looked
    )
    assert "weak-evidence" in notes and "weak-evidence" not in looked
    assert "**To look at**\n\nSaid before.\n\n- [x] **rewritten" in markdown_of(checked(), "Said before.")
    assert "Said before." not in markdown_of(checked(flags=(NOTE,)), "Said before."), "there is nothing that was accepted"


@pytest.mark.parametrize(
    "words",
    [
        "~~~~\n# out of the fence",
        "</details> <script>alert(1)</script>",
        "a | b | @everyone",
        "`tick` `tock`",
        "one\ntwo\n\n# three",
        "x" * 5000,
    ],
)
def test_words_of_a_change_stay_what_they_are_and_short(words: str) -> None:
    flag = Flag("no-proof", words, words, before=words, after=words)
    text = markdown_of(checked(flags=(flag,), proved=(words,), failed=()))
    fence = text.split("  ~~~~diff\n")[1].split("\n  ~~~~\n")[0]
    outside = re.sub("`[^`\n]*`", "", text.replace(fence, ""))  # what stands between ticks or in a fence is shown as it is
    assert "<script>" not in outside and "@everyone" not in outside and "\n# " not in outside and "~~~~" not in fence
    assert all(len(line) <= LONGEST + 4 for line in fence.splitlines()) and outside.count("</details>") == 0
    assert all(line.count("|") == 3 for line in text.splitlines() if line.startswith("| proved"))


HOSTILE = (
    "[click](https://evil.example)", "![seen](https://evil.example/a.png)", "https://evil.example", "www.evil.example", "@owner", "a@evil.example",
    "<img src=x>", "<https://evil.example>", "&commat;owner", "\\[click](//evil.example)", "[click]", "[click]: https://evil.example", "#12", "GH-12",
    "owner/repo#12", "!12", "`", "``", "~~~~", "# Title", "> said", "<!--", "<details>", "tests/[a](b)/test_a.py::test_b[c](d)", "]", "(", "\\", "\r", "a",
)  # fmt: skip
LINKS = re.compile(r"[@#!]\w|GH-\d|://|www\.")  # what hosts make links of by themselves


def shown(text: str) -> tuple[list[str], str]:
    """What a renderer makes of markdown: the kinds of its pieces, and the words outside of code."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    found = [piece for token in parser.parse(text) for piece in (token.children or [token])]
    return [piece.type for piece in found], "\n".join(piece.content for piece in found if piece.type == "text")


@given(st.lists(st.sampled_from(HOSTILE), min_size=1, max_size=4).map("".join))
@example("".join(HOSTILE))
def test_no_name_of_a_change_becomes_a_link_an_image_a_mention_or_html(words: str) -> None:
    def card(said: str) -> str:
        flags = (Flag("no-proof", said, said, before=said, after=said), Flag("unnoticed", said, level="note"))
        change = CHANGE._replace(name=said)
        return markdown_of(
            checked(flags=flags, proved=(said,), pins=(said,), failed=(said,), unclear=said)._replace(change=change, project=said)
        )

    (kinds, said), (plain, harmless) = shown(card(words)), shown(card("words"))
    assert not {"link_open", "image"} & set(kinds), said
    for kind in ("html_inline", "html_block", "heading_open", "fence"):
        assert kinds.count(kind) <= plain.count(kind), (kind, said)
    assert not LINKS.search(said), said
    assert not LINKS.search(harmless) and "words" in harmless


def test_a_card_is_kept_whole_as_text() -> None:
    assert msgspec.json.decode(msgspec.json.encode(checked()), type=Checked) == checked()
    assert object_of(checked())["commits"] == [{"hash": "d" * 40, "subject": "feat: a"}]
