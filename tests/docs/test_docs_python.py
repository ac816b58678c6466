"""The page on Python says what the docstrings say."""

from python_reference import section, written_section


def test_the_interface_is_that_of_the_docstrings() -> None:
    assert written_section() == section(), "run python tests/support/python_reference.py"
