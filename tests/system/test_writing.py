"""Files that somebody keeps: whole or not at all, and in the place that the user named."""

from __future__ import annotations

import errno
import os
import stat
import threading
from pathlib import Path

import pytest

from loopcli.system import writing


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "link").symlink_to("d/file")
    for data in (b"one", b"two"):  # the first finds nothing at the other end
        writing.write(str(tmp_path / "link"), data)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "d" / "file").read_bytes() == data
    assert names(tmp_path / "d") == ["file"]


def test_the_mode_stays(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o640)
    writing.write(str(path), b"new")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", 0o640)


def test_a_new_file_has_the_mode_of_any_other(tmp_path: Path) -> None:
    writing.write(str(tmp_path / "a"), b"")
    (tmp_path / "b").touch()
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_what_is_not_writable_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    # Whoever runs the tests may be root, to whom nothing is refused.
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError) as caught:
        writing.write(str(path), b"new")
    assert (caught.value.filename, path.read_bytes()) == (str(path), b"old")


@pytest.mark.parametrize("failing", ["write_all", "_copy_owner_and_mode"])
def test_a_failed_write_leaves_the_old_file_and_names_it(
    failing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/somewhere/else")

    monkeypatch.setattr(writing, failing, full)
    with pytest.raises(OSError, match="cannot write: No space left") as caught:
        writing.write(str(path), b"new")
    assert caught.value.filename == str(path)
    assert (names(tmp_path), path.read_bytes()) == (["file"], b"old")


def test_a_fifo_is_written_into(tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()))
    reader.start()
    writing.write(str(path), b"data")
    reader.join()
    assert got == [b"data"]
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_a_device_is_written_into(tmp_path: Path) -> None:
    """A terminal, which needs no rights to make and cannot be lost by a fault of ours."""
    ours, theirs = os.openpty()
    try:
        path = tmp_path / "terminal"
        path.symlink_to(os.ttyname(theirs))
        writing.write(str(path), b"data")
        assert os.read(ours, 99) == b"data"
        assert stat.S_ISCHR(path.stat().st_mode)
        assert names(tmp_path) == ["terminal"]
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.parametrize("form", ["/dev/fd/{}", "/proc/self/fd/{}"])
def test_a_descriptor_is_written_to_as_it_is(form: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    with path.open("wb", buffering=0) as file:
        file.write(b"before ")
        writing.write(form.format(file.fileno()), b"after")
        assert os.path.samestat(os.fstat(file.fileno()), path.stat())
    assert (names(tmp_path), path.read_bytes()) == (["file"], b"before after")


@pytest.mark.parametrize("name", ["", "new/", "nowhere/file", "loop"])
def test_what_cannot_be_written_names_what_the_user_named(name: str, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    path = os.path.join(tmp_path, name)
    with pytest.raises(OSError, match="cannot write: ") as caught:
        writing.write(path, b"data")
    assert caught.value.filename == path
    assert names(tmp_path) == ["loop"]
