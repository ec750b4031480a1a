"""Loop keys: what identifies a call, what is not counted, and what falls back to all arguments."""

from __future__ import annotations

import re

import pytest

from loopcli.identity import fingerprint
from loopcli.loop_keys import ALL_ARGUMENTS, INTERNAL, FieldKey, LoopKey, identify

BASH = '{"command": "ls", "cwd": "/a", "verbose": 1}'


def same(one: str, other: str, key: LoopKey) -> bool:
    """Whether two calls of one tool are the same under a key."""
    first, second = identify("t", one, key), identify("t", other, key)
    assert first.fingerprint
    assert second.fingerprint
    return first.fingerprint == second.fingerprint


def test_without_a_key_all_arguments_count() -> None:
    identity = identify("search", '{"q":"x"}')
    assert identity.fingerprint == fingerprint({"q": "x"}, "search")
    assert (identity.exempt, identity.warnings, identity.parsed) == (False, (), {"q": "x"})


def test_a_list_of_fields() -> None:
    key = LoopKey.declared(["command", "cwd"])
    assert same(BASH, '{"cwd": "/a", "command": "ls", "verbose": 2}', key)
    assert not same(BASH, '{"cwd": "/b", "command": "ls"}', key)
    # A field that is missing is left out.
    bare = identify("bash", '{"command": "ls", "verbose": 2}', key)
    assert bare.fingerprint == fingerprint({"command": "ls"}, "bash")
    assert bare.warnings == ()


@pytest.mark.parametrize("declaration", [[], ["zz"], [5, None], "command", 3, True, {"a": 1}])
def test_a_key_that_does_not_apply_falls_back_with_one_warning(declaration: object) -> None:
    identity = identify("bash", BASH, LoopKey.declared(declaration))
    assert identity.fingerprint == identify("bash", BASH).fingerprint
    assert len(identity.warnings) == 1


@pytest.mark.parametrize("arguments", ["null", "5", "[1,2]", "true"])
def test_arguments_without_fields_fall_back_with_a_warning(arguments: str) -> None:
    identity = identify("t", arguments, LoopKey.declared(["q"]))
    assert identity.fingerprint == identify("t", arguments).fingerprint
    assert len(identity.warnings) == 1
    assert identity.parsed is None


@pytest.mark.parametrize("arguments", ["{bad", '"abc"'])
@pytest.mark.parametrize("declaration", [["q"], [], "odd"])
def test_text_that_is_no_json_never_meets_the_key(arguments: str, declaration: object) -> None:
    identity = identify("t", arguments, LoopKey.declared(declaration))
    assert identity.fingerprint == identify("t", arguments).fingerprint
    assert identity.warnings == ()


@pytest.mark.parametrize("arguments", ["{}", "", "null", '{"x":1e400}', "[" * 9000 + "]" * 9000])
def test_no_call_of_an_exempt_tool_counts(arguments: str) -> None:
    identity = identify("t", arguments, LoopKey.declared(False))
    assert (identity.fingerprint, identity.exempt, identity.warnings) == (None, True, ())


@pytest.mark.parametrize("arguments", ["{bad", '"abc"', '{"q": '])
def test_a_broken_call_of_an_exempt_tool_counts(arguments: str) -> None:
    broken = identify("t", arguments, LoopKey.declared(False))
    assert broken == identify("t", arguments)
    assert broken.fingerprint
    assert identify("t", arguments, INTERNAL) == (None, True, (), None)


@pytest.mark.parametrize(
    ("declaration", "warnings"), [(None, 1), ([], 2), (["zz"], 2), (["x"], 1), (["q"], 0)]
)
def test_what_cannot_be_hashed_is_not_counted(declaration: object, warnings: int) -> None:
    identity = identify("t", '{"q": 1, "x": 1e400}', LoopKey.declared(declaration))
    assert (identity.fingerprint is None) is (declaration != ["q"])
    assert (len(identity.warnings), identity.exempt) == (warnings, False)


def test_fields_are_normalised_before_they_are_compared() -> None:
    query = LoopKey((FieldKey("query", trim=True, lower=True),))
    assert same('{"query":"Cats"}', '{"query":" cats "}', query)
    stamp = LoopKey((FieldKey("q", drop=re.compile(r"\d+")),))
    assert same('{"q":"at 12:01"}', '{"q":"at 13:59"}', stamp)
    assert not same('{"q":["A"]}', '{"q":["a"]}', LoopKey((FieldKey("q", lower=True),)))


def test_a_condition_takes_single_calls_out_of_the_count() -> None:
    key = LoopKey(unless=(("status", re.compile("^pending$")), ("job", re.compile("7"))))
    assert identify("t", '{"status":"pending","job":"17"}', key).exempt
    for counted in ('{"status":"pending"}', '{"status":"done","job":"7"}', '{"job":7}', "{bad"):
        identity = identify("t", counted, key)
        assert identity.fingerprint == identify("t", counted).fingerprint


def test_nothing_declared_is_all_arguments() -> None:
    assert LoopKey.declared(None) is ALL_ARGUMENTS
