"""The shape of the project: who may import whom, what start-up costs, and how long files are."""

from __future__ import annotations

import ast
import doctest
import importlib
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "loopcli"
MODULES = sorted(PACKAGE.rglob("*.py"))
RULES = {f"rules.{path.name}" for path in (PACKAGE / "rules").iterdir() if path.is_dir()}

# From the ground up. A room imports from its own layer and from those below it.
LAYERS = {
    "nouns": {
        "",
        "events",
        "verdicts",
        "actions",
        "session_events",
        "session_verdicts",
        "errors",
        "status",
    },
    "measures": {
        *("words", "wording", "lenient_json", "signatures", "bounds"),
        *("identity", "loop_keys", "ladder", "session_setup"),
    },
    "readers": {"readers"},
    "sessions": {"sessions"},
    "rules": {"rules"},
    "composition": {"detector", "watch", "conversation", "session_judge"},
    "recordings": {"recordings"},
    "settings": {"settings"},
    "front door": {"monitor"},
    "system": {"system"},
    "drivers": {"filter", "analyze", "run", "guard"},
    "faces": {"output"},
    "commands": {"commands", "cli", "__main__"},
}
_NOUNS = {"nouns", "measures"}
MAY_IMPORT = {
    "nouns": {"nouns"},
    "measures": _NOUNS,
    "readers": {*_NOUNS, "readers"},
    "sessions": {*_NOUNS, "readers", "sessions"},
    "rules": {*_NOUNS, "rules"},
    "composition": {*_NOUNS, "readers", "sessions", "rules", "composition"},
    "recordings": {*_NOUNS, "readers", "sessions", "recordings"},
    "settings": {*_NOUNS, "rules", "settings"},
    "front door": {*_NOUNS, "readers", "sessions", "rules", "composition", "settings"},
    "system": {*_NOUNS, "system"},
    "drivers": set(LAYERS) - {"commands"},
    "faces": set(LAYERS) - {"commands", "system"},
    "commands": set(LAYERS),
}
# Everything else is pure: it reads no clock, no file, no descriptor.
IMPURE = {
    "__main__",
    "analyze.baseline",
    "analyze.pool",
    "analyze.survey",
    "analyze.tasks",
    "cli",
    "commands.*",
    "filter.driver",
    "filter.reply_writer",
    "guard.database",
    "guard.hook",
    "guard.install",
    "guard.store",
    "output.*",
    "recordings.corpus",
    "recordings.labels",
    "recordings.opening",
    "run.attempt",
    "run.child",
    "run.journal",
    "run.price_client",
    "run.turn",
    "run.turn_records",
    "settings.file",
    "system.*",
}
WORLDLY = {"os", "sys", "io", "time", "datetime", "signal", "select", "subprocess", "pathlib"}
WORLDLY |= {"tempfile", "socket", "threading", "random", "asyncio", "shutil"}
# Who may use which package; the standard library is everybody's.
PACKAGES = {
    "click": {"commands", "cli"},
    "numpy": {"analyze.sweep"},
    "tabulate": {"output"},
    "tqdm": {"output", "commands"},
    "yaml": {"recordings"},
    "zstandard": {"recordings"},
    "xxhash": {"words", "rules", "run"},
    "orjson": set(),  # everybody
}


def name_of(path: Path) -> str:
    """A file as its place in the package: `readers.sse`, or nothing for the package itself."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def layer_of(module: str) -> str:
    top = module.split(".")[0]
    (layer,) = [layer for layer, names in LAYERS.items() if top in names]
    return layer


def room_of(module: str, depth: int = 1) -> str:
    return ".".join(module.split(".")[:depth])


KNOWN = {f"loopcli.{name_of(module)}" for module in MODULES}


@cache
def nodes(path: Path) -> list[ast.AST]:
    """Every node of a file's syntax tree; parsed once, for all tests."""
    return list(ast.walk(ast.parse(path.read_text("utf-8"))))


@cache
def imports(path: Path) -> set[str]:
    """Every module a file names, inside functions and for types only, too."""
    named = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            named |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            assert node.module is not None
            deeper = {f"{node.module}.{alias.name}" for alias in node.names}
            # `from loopcli.commands import options` names a module, not a thing in one.
            named |= (deeper & KNOWN) or {node.module}
    return named


def ours(path: Path) -> set[str]:
    names = {name for name in imports(path) if name.split(".")[0] == "loopcli"}
    return {name.removeprefix("loopcli").removeprefix(".") for name in names}


def roots(path: Path) -> set[str]:
    return {name.split(".")[0] for name in imports(path)} - {"loopcli"}


def offenders(check: Callable[[Path], object]) -> dict[str, object]:
    """What a check finds wrong, by module. One test for all: a case each costs more than it."""
    checked = {name_of(path): check(path) for path in MODULES}
    return {name: wrong for name, wrong in checked.items() if wrong}


def test_lower_layers_never_import_higher_ones() -> None:
    def higher(path: Path) -> list[str]:
        if path == PACKAGE / "__init__.py":
            return []  # names things of every layer for type checkers, and imports none of them
        allowed = MAY_IMPORT[layer_of(name_of(path))]
        return [name for name in ours(path) if layer_of(name) not in allowed]

    assert offenders(higher) == {}


@pytest.mark.parametrize(("depth", "rooms"), [(1, LAYERS["drivers"]), (2, RULES)])
def test_drivers_never_import_each_other_nor_rules_other_rules(depth: int, rooms: set[str]) -> None:
    def others(path: Path) -> set[str]:
        own = room_of(name_of(path), depth)
        return (
            {room_of(name, depth) for name in ours(path)} & rooms - {own} if own in rooms else set()
        )

    assert offenders(others) == {}


def test_what_is_pure_touches_nothing() -> None:
    def touched(path: Path) -> set[str]:
        name = name_of(path)
        return set() if {name, f"{room_of(name)}.*"} & IMPURE else roots(path) & WORLDLY

    assert offenders(touched) == {}


def test_the_list_of_what_is_impure_names_nothing_else() -> None:
    impure = {
        name_of(path)
        for path in MODULES
        if roots(path) & WORLDLY or any(room_of(name) == "system" for name in ours(path))
    }
    listed = {name for name in IMPURE if not name.endswith(".*")}
    assert listed - impure == set()


def test_packages_are_used_where_they_belong() -> None:
    def misplaced(path: Path) -> list[str]:
        name = name_of(path)
        rooms = {room_of(name), room_of(name, 2)}
        packages = roots(path) - sys.stdlib_module_names
        return [
            package for package in packages if PACKAGES[package] and not PACKAGES[package] & rooms
        ]

    assert offenders(misplaced) == {}


def test_what_is_private_stays_in_its_folder() -> None:
    def borrowed(path: Path) -> list[str]:
        private = [name for name in ours(path) if name.rpartition(".")[2].startswith("_")]
        return [
            name
            for name in private
            if name != "__main__" and not name_of(path).startswith(name.rpartition(".")[0])
        ]

    assert offenders(borrowed) == {}


def test_the_map_in_the_package_names_every_room() -> None:
    words = (importlib.import_module("loopcli").__doc__ or "").replace("`", " ").split()
    rooms = {name.split(".")[0] for name in map(name_of, MODULES) if name}
    assert rooms - set(words) == set()


def test_no_two_classes_share_a_name() -> None:
    names = Counter(
        node.name for path in MODULES for node in nodes(path) if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_the_check_itself_sees_imports() -> None:
    assert "commands.filter" in ours(PACKAGE / "cli.py")
    assert "click" in roots(PACKAGE / "cli.py")
    assert "time" in roots(PACKAGE / "system" / "limits.py")
    assert "tqdm" in roots(PACKAGE / "output" / "progress.py")


def test_no_file_is_longer_than_a_sitting() -> None:
    assert offenders(lambda path: len(path.read_text("utf-8").splitlines()) > 300) == {}


def test_the_examples_in_docstrings_are_true() -> None:
    def untrue(path: Path) -> int:
        module = importlib.import_module(f"loopcli.{name_of(path)}".rstrip("."))
        return doctest.testmod(module).failed

    assert offenders(untrue) == {}


@pytest.mark.parametrize("flags", [[], ["--report", "/dev/null", "--verbose", "--dry-run"]])
def test_the_filter_imports_nothing_heavy(flags: list[str]) -> None:
    program = (
        "import sys; from loopcli.cli import main\n"
        f"status = main({flags!r})\n"
        "print(status, *sorted(sys.modules), file=sys.stderr)"
    )
    stream = (ROOT / "fixtures" / "streams" / "chat-tools.sse").read_bytes()
    command = [sys.executable, "-c", program]
    result = subprocess.run(command, input=stream, capture_output=True, check=True)
    status, *loaded = result.stderr.decode().splitlines()[-1].split()
    assert (status, "orjson" in loaded) == ("0", True)
    heavy = {"tqdm", "tabulate", "numpy", "asyncio", "subprocess", "hypothesis"}
    heavy |= {
        "multiprocessing",
        "csv",
        "glob",
        "loopcli.recordings.corpus",
        "loopcli.commands.analyze.command",
    }
    heavy |= {
        "loopcli.settings.file",
        "loopcli.commands.run",
        "signal",
        "tempfile",
        "tomllib",
        "fcntl",
    }
    assert heavy & set(loaded) == set()


def test_the_fixtures_are_what_their_script_writes() -> None:
    command = [sys.executable, str(ROOT / "fixtures" / "generate.py"), "--check"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
