"""The shape of the project: who may import whom, what start-up costs, and how long files are."""

from __future__ import annotations

import ast
import doctest
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "loopcli"
MODULES = sorted(PACKAGE.rglob("*.py"))

LAYERS = {
    "nouns": {"", "events", "verdicts", "errors", "status"},
    "measures": {"words", "jsonc", "wording", "lenient_json"},
    "readers": {"readers"},
    "rules": {"rules"},
    "composition": {
        *("detector", "watch", "replay", "trace", "gates", "scoring", "sweep"),
        *("arming", "profiles", "attempts", "price"),
    },
    "world": {
        "recordings",
        *("stdio", "writing", "baseline"),
        *("measuring", "survey", "workers", "config"),
        *("signals", "child", "launch", "turn", "journal", "records", "rollup", "generation"),
    },
    "faces": {"output"},
    "commands": {"options", "commands", "cli", "__main__"},
}
MAY_IMPORT = {
    "nouns": {"nouns"},
    "measures": {"nouns", "measures"},
    "readers": {"nouns", "measures", "readers"},
    "rules": {"nouns", "measures", "rules"},
    "composition": {"nouns", "measures", "readers", "rules", "composition"},
    "world": {"nouns", "measures", "readers", "rules", "composition", "world"},
    "faces": {"nouns", "measures", "composition", "faces"},
    "commands": set(LAYERS),
}
PURE = {"nouns", "measures", "readers", "rules", "composition"}
# What reads a clock, a file or a descriptor; what is pure must do without.
WORLDLY = {"os", "sys", "io", "time", "datetime", "signal", "select", "subprocess", "pathlib"}
WORLDLY |= {"tempfile", "socket", "threading", "random", "asyncio", "shutil"}
THIRD_PARTY = {
    "nouns": set(),
    "measures": {"orjson", "xxhash"},
    "readers": {"orjson", "yaml"},
    "rules": {"xxhash", "orjson"},
    "composition": {"numpy", "orjson"},
    "world": {"zstandard", "orjson"},
    "faces": {"orjson", "tqdm", "tabulate"},
    "commands": {"click", "orjson", "tqdm"},
}


def name_of(path: Path) -> str:
    """A file as its place in the package: `readers.sse`, or nothing for the package itself."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def layer_of(module: str) -> str:
    top = module.split(".")[0]
    (layer,) = [layer for layer, names in LAYERS.items() if top in names]
    return layer


def imports(path: Path) -> set[str]:
    """Every module a file names, inside functions and for types only, too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            assert node.module is not None
            deeper = {f"{node.module}.{alias.name}" for alias in node.names}
            known = {f"loopcli.{name_of(module)}" for module in MODULES}
            # `from loopcli.commands import options` names a module, not a thing in one.
            found |= (deeper & known) or {node.module}
    return found


def ours(path: Path) -> set[str]:
    names = {name for name in imports(path) if name.split(".")[0] == "loopcli"}
    return {name.removeprefix("loopcli").removeprefix(".") for name in names}


def roots(path: Path) -> set[str]:
    return {name.split(".")[0] for name in imports(path)} - {"loopcli"}


each_module = pytest.mark.parametrize("path", MODULES, ids=name_of)


@each_module
def test_lower_layers_never_import_higher_ones(path: Path) -> None:
    allowed = MAY_IMPORT[layer_of(name_of(path))]
    assert {name: layer_of(name) for name in ours(path) if layer_of(name) not in allowed} == {}


@each_module
def test_what_is_pure_touches_nothing(path: Path) -> None:
    layer = layer_of(name_of(path))
    standard = roots(path) & sys.stdlib_module_names
    assert roots(path) - standard - THIRD_PARTY[layer] == set()
    if layer in PURE:
        assert standard & WORLDLY == set()


@each_module
def test_only_the_sweep_needs_numpy(path: Path) -> None:
    assert "numpy" not in roots(path) or name_of(path).startswith("sweep.")


def test_the_check_itself_sees_imports() -> None:
    assert "commands.filter" in ours(PACKAGE / "cli.py")
    assert "click" in roots(PACKAGE / "cli.py")
    assert "time" in roots(PACKAGE / "stdio.py")
    assert "tqdm" in roots(PACKAGE / "output" / "progress.py")


@each_module
def test_no_file_is_longer_than_a_sitting(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= 300


@each_module
def test_the_examples_in_docstrings_are_true(path: Path) -> None:
    module = importlib.import_module(f"loopcli.{name_of(path)}".rstrip("."))
    assert doctest.testmod(module).failed == 0


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
