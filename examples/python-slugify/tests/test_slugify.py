import pytest
from slugify import plain, slugify


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Hello World", "hello-world"),
        ("  many   spaces ", "many-spaces"),
        ("What's new?", "what-s-new"),
        ("Crème brûlée", "creme-brulee"),
        ("2024 in review", "2024-in-review"),
        ("", ""),
        ("!!!", ""),
    ],
)
def test_a_title_has_its_slug(title: str, slug: str) -> None:
    assert slugify(title) == slug


def test_words_are_joined_by_the_separator() -> None:
    assert slugify("Hello World", separator="_") == "hello_world"


@pytest.mark.parametrize("separator", ["", "--", " ", "/"])
def test_a_separator_is_one_character_that_addresses_allow(separator: str) -> None:
    with pytest.raises(ValueError, match="not a separator"):
        slugify("a b", separator=separator)


def test_a_slug_is_its_own_slug() -> None:
    assert slugify(slugify("Crème brûlée!")) == "creme-brulee"


def test_letters_lose_their_marks() -> None:
    assert plain("Ångström") == "Angstrom"
