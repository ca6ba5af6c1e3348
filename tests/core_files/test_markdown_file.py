"""A file is read whole or not at all, and written without a trace but its text."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from langmemory.core_files import CoreFileError, markdown_file
from langmemory.core_files.differences import merged
from langmemory.core_files.markdown_file import CoreFileChangedError


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\nb\n", "a\nB\nc\n"),
        ("a\nb", "a\nB\nc"),
        ("\ufeffa\r\nb\r\n\r\n", "\ufeffa\r\nB\r\nc\r\n\r\n"),
        ("\n\na\rb\r", "\n\na\rB\rc\r"),
        ("a\r\nb\n\n", "a\r\nB\r\nc\n\n"),
        ("a\nb\u2028", "a\nB\nc\u2028"),
    ],
)
def test_only_the_text_changes(tmp_path: Path, before: str, after: str) -> None:
    """Byte-order mark, line ends and the white space at both ends are as they were; new lines end as the
    first of the usual kind does."""
    path = tmp_path / "A.md"
    path.write_bytes(before.encode())
    path.chmod(0o604)
    link = tmp_path / "LINK.md"
    link.symlink_to("A.md")
    there = markdown_file.read(str(link))
    assert there.text == "a\nb"
    markdown_file.write(str(link), "a\nB\nc", expected=there.digest)
    assert path.read_bytes() == after.encode()
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o604
    assert sorted(one.name for one in tmp_path.iterdir()) == ["A.md", "LINK.md"]


def test_what_changed_meanwhile_is_not_written(tmp_path: Path) -> None:
    """A file whose text is another one by now is left as it is, and so is one with a second name."""
    path = tmp_path / "A.md"
    path.write_text("one", "utf-8")
    seen = markdown_file.read(str(path)).digest
    path.write_text("two", "utf-8")
    with pytest.raises(CoreFileChangedError):
        markdown_file.write(str(path), "three", expected=seen)
    assert path.read_text("utf-8") == "two"
    os.link(path, tmp_path / "B.md")
    with pytest.raises(CoreFileError, match="2 names"):
        markdown_file.write(str(path), "x", expected=markdown_file.read(str(path)).digest)


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"\xff\xfea\0", "UTF-16"), (b"a\0b", "NUL"), (b"x" * 1_000_001, "1,000,001 bytes")],
)
def test_what_is_no_text_is_refused(tmp_path: Path, data: bytes, said: str) -> None:
    """The error names the file and what it is."""
    path = tmp_path / "A.md"
    path.write_bytes(data)
    with pytest.raises(CoreFileError, match=said):
        markdown_file.read(str(path))
    with pytest.raises(CoreFileError, match="Is a directory"):
        markdown_file.read(str(tmp_path))


def test_three_texts_are_merged_where_other_lines_changed() -> None:
    """Changes of lines apart are joined, the same change counts once, and neighbours are a conflict."""
    assert merged("a\nb\nc\nd", "A\nb\nc\nd", "a\nb\nc\nD") == "A\nb\nc\nD"
    assert merged("a\nb", "a\nB", "a\nB") == "a\nB"
    assert merged("a\nb", "A\nb", "a\nB") is None
    assert merged("a", "a\nb", "a\nc") is None
