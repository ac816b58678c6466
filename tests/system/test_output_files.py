"""Files that replace older ones: completely or not at all."""

import os
from pathlib import Path

import pytest

from antipodes.system.output_files import output_file
from antipodes_tasks.base.errors import InputError, StoreError


def test_the_new_file_replaces_the_old_one_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with output_file(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("error", "expected", "message"),
    [
        (OSError(28, "No space left on device"), StoreError, r"^cannot write file: No space left on device$"),
        (InputError("not valid"), InputError, r"^not valid$"),
        (KeyboardInterrupt(), KeyboardInterrupt, None),
    ],
)
def test_after_an_error_the_old_file_remains(
    error: BaseException,
    expected: type[BaseException],
    message: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("file")
    path.write_text("old")
    with pytest.raises(expected, match=message), output_file(path):
        raise error
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [tmp_path / path]


def test_the_new_file_has_the_permissions_of_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o640)
    with output_file(path) as file:
        file.write(b"new")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", 0o640)


def test_a_pipe_is_written_directly(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with output_file(path) as file:
            file.write(b"new")
        assert os.read(reader, 10) == b"new"
    finally:
        os.close(reader)
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_remains_a_link(tmp_path: Path) -> None:
    link, target = tmp_path / "link", tmp_path / "target"
    link.symlink_to("target")
    for content in (b"first", b"second"):
        with output_file(link) as file:
            file.write(content)
        assert link.is_symlink()
        assert target.read_bytes() == content


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "it is a directory"),
        ("a/b", "No such file or directory"),
        ("a\0b", "the name contains a null byte"),
        ("loop", "Too many levels of symbolic links"),
    ],
)
def test_impossible_names(name: str, reason: str, tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    with pytest.raises(StoreError, match=f"^cannot write .*: {reason}$"), output_file(tmp_path / name):
        pass
    assert list(tmp_path.iterdir()) == [loop]


def test_a_name_may_have_the_maximum_length(tmp_path: Path) -> None:
    path = tmp_path / ("é" * 127)
    with output_file(path) as file:
        file.write(b"new")
    assert path.read_text() == "new"
