"""The names that ``import loopcli`` offers: complete, importable, and free until they are used."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import loopcli

SOURCE = ast.parse(Path(loopcli.__file__).read_text("utf-8"))


def typed_names() -> set[str]:
    """What a type checker sees: the imports under ``if TYPE_CHECKING``."""
    (block,) = [node for node in SOURCE.body if isinstance(node, ast.If)]
    return {
        f"{node.module}.{alias.name}"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_type_checkers_see_what_python_imports() -> None:
    homes = {
        f"loopcli.{module}.{name}" for module, names in loopcli._HOMES.items() for name in names
    }
    assert typed_names() == homes


def test_the_list_is_complete_and_sorted() -> None:
    names = [name for names in loopcli._HOMES.values() for name in names]
    assert len(names) == len(set(names))
    assert set(loopcli.__all__) == {*names, "__version__"}
    assert loopcli.__all__ == sorted(loopcli.__all__)
    assert set(loopcli.__all__) <= set(dir(loopcli))


@pytest.mark.parametrize("name", loopcli.__all__)
def test_every_name_can_be_imported_and_is_documented(name: str) -> None:
    value = getattr(loopcli, name)
    assert getattr(loopcli, name) is value
    if name not in ("__version__", "Event"):  # a text, and a union of types
        assert value.__module__.startswith("loopcli.")
        assert value.__doc__


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="module 'loopcli' has no attribute 'Detektor'"):
        _ = loopcli.Detektor


def test_the_package_imports_nothing_before_a_name_is_used() -> None:
    program = (
        "import sys, loopcli; print([name for name in sys.modules if 'loopcli' in name])\n"
        "loopcli.Status; print('click' in sys.modules, 'numpy' in sys.modules)\n"
        "from loopcli import *\n"
        "print('click' in sys.modules, 'numpy' in sys.modules, TextMonitor.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    expected = "['loopcli']\nFalse False\nFalse False TextMonitor\n"
    assert (done.stdout, done.stderr) == (expected, "")
