"""Python: pytest and unittest."""
