"""Files are read and written in the encoding that they name for themselves, so that a small change to one changes nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.evidence.source.file_text import bytes_of, other_encoding, text_of

NAMED = {
    "latin-1": b"# -*- coding: latin-1 -*-\nname = 'caf\xe9'\n",
    "on the second line": b"#!/usr/bin/env ruby\n# encoding: iso-8859-15\nputs '\xa4'\n",
    "of Japan": b"# coding: shift_jis\nname = '\x93\xfa\x96{'\n",
    "utf-8 with a mark": b"\xef\xbb\xbf# coding: utf-8-sig\nname = '\xc3\xa9'\r\n",
    "none": "name = 'é'\r\n".encode(),
    "none that is known": b"# coding: of-my-own\nname = 'e'\n",
}


@pytest.mark.parametrize("how", NAMED)
def test_a_file_comes_back_as_the_same_bytes(how: str) -> None:
    text = text_of(NAMED[how])
    assert bytes_of(text) == NAMED[how] and "�" not in text


@given(st.text(alphabet=st.characters(codec="cp1252")), st.sampled_from(["cp1252", "windows-1252", "cp1252-unknown"]))
def test_what_can_be_written_is_read_again(text: str, name: str) -> None:
    whole = f"# coding: {name}\n{text}"
    assert text_of(bytes_of(whole)) == whole


def test_bytes_that_no_encoding_explains_are_replaced() -> None:
    assert text_of(b"name = '\xe9'\n") == "name = '�'\n"


def test_an_encoding_in_which_text_is_not_what_is_shown_is_named_and_not_used() -> None:
    data = b"# coding: unicode_escape\nx = 1 #\\u000ay = 2\n"
    assert other_encoding(text_of(data)) == "unicode_escape" and bytes_of(text_of(data)) == data
    assert other_encoding("# coding: latin-1\n") == ""
