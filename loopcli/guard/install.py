"""Writes the hook into the settings of an agent, and takes it out again.

The state folder keeps, for each file that was written, its bytes from before and
a digest of what was written. If the file still is what was written, taking the
hook out restores those bytes. If somebody has changed it since, only the hook is
taken out.
"""

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

from loopcli.errors import ConfigError
from loopcli.guard import programs
from loopcli.guard.programs import PROGRAMS
from loopcli.lenient_json import dump, member, parse
from loopcli.system import writing


class Installation:
    """The hook in one program's settings. ``state`` is the folder for what is remembered."""

    def __init__(self, name: str, state: Path) -> None:
        self.program = PROGRAMS[name]
        folder = os.environ.get(self.program.variable, "") if self.program.variable else ""
        base = Path(folder) if folder else Path.home() / self.program.folder
        self.path = base / self.program.file
        digest = sha256(os.fsencode(self.path.absolute())).hexdigest()[:16]
        self._record = state / "installed" / f"{name}-{digest}.json"

    def text(self, arguments: list[str], command: str) -> str:
        """Return the text of the file with the hook.

        ``arguments`` and ``command`` are the same command line, for a plugin and for a shell.
        Raises ``ConfigError`` if the file cannot be changed safely, and ``OSError``.
        """
        current = self._read()
        if not self.program.event:
            if current is not None and not self._is_our_plugin(current):
                raise ConfigError(f"{self.path}: not written by loopcheck; it is not replaced")
            return programs.plugin(arguments, 1000 * self.program.timeout)
        settings = self._settings(current)
        try:
            return programs.dump_settings(programs.with_hook(settings, self.program, command))
        except ConfigError as error:
            raise ConfigError(*(f"{self.path}: {defect}" for defect in error.defects)) from error

    def write(self, text: str) -> None:
        """Write the file, and remember what it was. Raises ``OSError``."""
        data = text.encode("utf-8", "surrogatepass")
        original = self._original(self._read())
        record = {
            "path": str(self.path),
            "original": None if original is None else b64encode(original).decode(),
            "written": sha256(data).hexdigest(),
        }
        # First: without the record the file could not be restored.
        _write(self._record, dump(record) + b"\n")
        _write(self.path, data)

    def remove(self) -> str:
        """Take the hook out; return what was done. Raises ``OSError`` and ``ConfigError``."""
        current = self._read()
        if current is None or not self.hooks():
            return "there is no hook of loopcheck"
        record = self._recorded()
        if member(record, "written") == sha256(current).hexdigest():
            original = _decoded(record)
            done = "restored the file as it was"
        elif self.program.event:
            settings = programs.without_hook(self._settings(current), self.program)
            original = programs.dump_settings(settings).encode("utf-8", "surrogatepass")
            done = "the file was changed since; only the hook was taken out"
        else:
            raise ConfigError(f"{self.path}: it was changed; delete it yourself")
        if original is None:
            self.path.unlink()
        else:
            _write(self.path, original)
        self._record.unlink(missing_ok=True)
        return done

    def hooks(self) -> list[str]:
        """Return the commands of our hooks, or the plugin's first line; none if not installed."""
        current = self._read()
        if current is None:
            return []
        if not self.program.event:
            return [programs.MARK] if self._is_our_plugin(current) else []
        return programs.our_commands(self._settings(current), self.program)

    def _original(self, current: bytes | None) -> bytes | None:
        """Return what a removal has to restore: the file without any hook of ours."""
        if current is None:
            return None
        record = self._recorded()
        if member(record, "written") == sha256(current).hexdigest():
            return _decoded(record)
        if not self.hooks() or not self.program.event:
            return None if self._is_our_plugin(current) else current
        settings = programs.without_hook(self._settings(current), self.program)
        return programs.dump_settings(settings).encode("utf-8", "surrogatepass")

    def _settings(self, current: bytes | None) -> dict[str, Any]:
        try:
            return programs.parse_settings((current or b"").decode("utf-8"))
        except UnicodeDecodeError as error:
            raise ConfigError(f"{self.path}: not UTF-8; add the hook by hand") from error
        except ConfigError as error:
            raise ConfigError(f"{self.path}: {error}") from error

    @staticmethod
    def _is_our_plugin(current: bytes) -> bool:
        return current.startswith(programs.MARK.encode())

    def _read(self) -> bytes | None:
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return None

    def _recorded(self) -> Any:
        try:
            return parse(self._record.read_bytes())
        except (OSError, ValueError):
            return None


def _decoded(record: Any) -> bytes | None:
    original = member(record, "original")
    return b64decode(original) if isinstance(original, str) else None


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    writing.write(str(path), data)
