"""What is text to the bounds of a TOML file is what is text to its parser."""

import random
import tomllib
from itertools import accumulate
from typing import Any

from antipodes.system.text_file import TEXT_OR_COMMENT

PARTS = ['"', '""', '"""', "'", "''", "'''", "\\", '\\"', "x", ".", "[", "]", "#", "\n", "\na = ", " ", ",", "[]"]


def _depth(value: Any) -> int:
    if isinstance(value, dict):
        return max(map(_depth, value.values()), default=0)
    return 1 + max(map(_depth, value), default=0) if isinstance(value, list) else 0


def test_brackets_count_where_the_parser_sees_them() -> None:
    rng, valid = random.Random(9), 0
    while valid < 1000:
        text = "b = " + "".join(rng.choices(PARTS, k=rng.randint(1, 9)))
        try:
            content = tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            continue
        brackets = [1 if one == "[" else -1 for one in TEXT_OR_COMMENT.sub("", text) if one in "[]"]
        assert max(accumulate(brackets), default=0) == _depth(content), text
        valid += 1
