"""Agent profiles: the document's table of refusals, and every way to write them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from processes import loopcheck

from loopcli.errors import ConfigError
from loopcli.rules.saturation.config import SaturationConfig
from loopcli.settings import file as settings_file
from loopcli.settings import jsonc
from loopcli.settings.arming import resolve
from loopcli.settings.profiles import Profile

KNOBS: dict[str, Any] = {
    "windowWords": 256,
    "repeatThreshold": 32,
    "minOffenders": 2,
    "minSaturatedRun": 3000,
    "maxResponseChars": 250000,
}
NAMES = list(KNOBS)
PURPOSES = {
    "windowWords": "the lookback of the frequency rule",
    "repeatThreshold": "how often a word may occur in the window before it offends",
    "minOffenders": "how many distinct offenders make the window saturated",
    "minSaturatedRun": "how long the window must stay saturated",
    "maxResponseChars": "the hard ceiling on the length of one reply",
}
ARMED = (
    "loop detection: armed — a reply is abandoned after 3000 consecutive words during which 2 or "
    "more words have each occurred more than 32 times in the last 256, or once it passes 250000 "
    "characters"
)


def profile(**block: Any) -> dict[str, Any]:
    return {"id": "implementer", "name": "Implementer", "loopDetection": block}


def read(path: Path, doc: Any) -> Sequence[Profile]:
    path.write_text(doc if isinstance(doc, str) else json.dumps(doc))
    return settings_file.load(str(path)).profiles


def defects(path: Path, doc: Any) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        read(path, doc)
    start = f"{path}: agent `Implementer`: "
    assert all(defect.startswith(start) for defect in caught.value.defects)
    return [defect.removeprefix(start) for defect in caught.value.defects]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "agents.json"


# The document's table


@pytest.mark.parametrize(
    "doc",
    [
        {"id": "implementer", "name": "Implementer"},
        {"id": "implementer", "name": "Implementer", "loopDetection": None},
        profile(enabled=False),
        profile(enabled=False, **KNOBS),
        profile(enabled=False, windowWords=None),
    ],
)
def test_absent_or_disabled_is_off(doc: Any, path: Path) -> None:
    (found,) = read(path, doc)
    assert not found.armed
    assert found.warnings == ()


def test_enabled_with_five_knobs_is_armed(path: Path) -> None:
    figures = dict(zip(NAMES, (64, 8, 3, 100, 9000), strict=True))
    (found,) = read(path, profile(enabled=True, **figures))
    assert found.armed
    assert found.config == SaturationConfig(64, 8, 3, 100, 9000)


@pytest.mark.parametrize("missing", NAMES)
@pytest.mark.parametrize("how", ["absent", "null"])
def test_a_missing_knob_is_refused(missing: str, how: str, path: Path) -> None:
    knobs = {name: value for name, value in KNOBS.items() if name != missing}
    if how == "null":
        knobs[missing] = None
    assert defects(path, profile(enabled=True, **knobs)) == [
        f"loopDetection.{missing} — the detector is armed, and this profile writes no {missing}, "
        f"which is {PURPOSES[missing]}; all five knobs must be stated"
    ]


def test_all_that_are_missing_are_told_in_order(path: Path) -> None:
    found = defects(path, profile(enabled=True))
    assert [defect.split(" ")[0] for defect in found] == [f"loopDetection.{n}" for n in NAMES]


@pytest.mark.parametrize("knob", ["minSaturatedRun", "maxResponseChars"])
def test_the_zeroes_that_mean_something(knob: str, path: Path) -> None:
    (found,) = read(path, profile(enabled=True, **KNOBS | {knob: 0}))
    assert found.armed
    line = loopcheck("config", path).stdout
    told = {
        "minSaturatedRun": "is abandoned as soon as 2 or more words",
        "maxResponseChars": "; there is no length backstop",
    }
    assert told[knob] in line


CONSEQUENCES = {
    "windowWords": "a window of no words leaves nothing to look back over",
    "repeatThreshold": "every word would be an offender",
    "minOffenders": "a window without any offender would count as saturated",
}


@pytest.mark.parametrize("knob", CONSEQUENCES)
@pytest.mark.parametrize("enabled", [True, False])
def test_the_other_zeroes_are_refused(knob: str, enabled: bool, path: Path) -> None:
    assert defects(path, profile(enabled=enabled, **KNOBS | {knob: 0})) == [
        f"loopDetection.{knob} = `0` — it cannot bound anything at zero: {CONSEQUENCES[knob]}"
    ]


def test_three_zeroes_are_three_defects_even_when_disarmed(path: Path) -> None:
    found = defects(path, profile(enabled=False, **dict.fromkeys(CONSEQUENCES, 0)))
    assert len(found) == 3


def test_a_name_is_shown_escaped(path: Path) -> None:
    path.write_text(json.dumps({"name": "\x1b[2J\ud800\n", "loopDetection": {"windowWords": 0}}))
    done = loopcheck("config", path)
    assert "agent `\\u001b[2J\\ud800\\n`: loopDetection.windowWords" in done.stderr
    path.write_text(json.dumps({"name": "\x1b[2J\ud800\n"}))
    assert loopcheck("config", path).stdout == (
        "agent `\\u001b[2J\\ud800\\n`: off: loopDetection is absent\n"
    )


@pytest.mark.parametrize("written", ["-1", "-0", "1.5", "256.0", "1e3", '"32"', "true", "[]", "{}"])
@pytest.mark.parametrize("knob", NAMES)
@pytest.mark.parametrize("enabled", ["true", "false"])
def test_what_is_not_the_number_it_is(written: str, knob: str, enabled: str, path: Path) -> None:
    knobs = [f'"{name}": {written if name == knob else value}' for name, value in KNOBS.items()]
    block = ", ".join([f'"enabled": {enabled}', *knobs])
    doc = f'{{"name": "Implementer", "loopDetection": {{{block}}}}}'
    assert defects(path, doc) == [
        f"loopDetection.{knob} = `{written}` — not a whole number of 0 or more"
    ]


@pytest.mark.parametrize(
    ("knob", "value", "reason"),
    [
        ("repeatThreshold", 2**32, "does not fit the 32-bit counter of a word's occurrences"),
        ("windowWords", 2**64, "does not fit in 64 bits"),
        ("minSaturatedRun", 2**64, "does not fit in 64 bits"),
    ],
)
def test_what_is_too_wide(knob: str, value: int, reason: str, path: Path) -> None:
    found = defects(path, profile(enabled=True, **KNOBS | {knob: value}))
    assert found == [f"loopDetection.{knob} = `{value}` — {reason}"]
    (read_,) = read(path, profile(enabled=True, **KNOBS | {knob: value - 1}))
    assert value - 1 in read_.knobs.values()


def test_more_offenders_than_words_is_armed_with_a_warning(path: Path) -> None:
    warning = (
        "agent `Implementer`: minOffenders (300) is larger than windowWords (64), so the "
        "repetition rule can never fire; only the length backstop is left."
    )
    odd = KNOBS | {"minOffenders": 300, "windowWords": 64}
    for enabled, told in ((False, ()), (True, (warning,))):
        (found,) = read(path, profile(enabled=enabled, **odd))
        assert found.armed == enabled
        assert resolve(settings_file.load(str(path)).pick(None)).warnings == told
    # A flag that mends it is no cause for a warning.
    mended = loopcheck("--config", path, "--window-words", "512").stderr
    assert mended == "loopcheck: <stdin>: warning: nothing arrived: the input is empty\n"
    path.write_text(json.dumps(profile(enabled=True, **odd)))
    done = loopcheck("run", "--config", path, "cat")
    assert done.stderr == f"loopcheck: warning: {warning}\n"
    first, *_ = loopcheck("--config", path).stderr.splitlines()
    assert first == f"loopcheck: warning: {warning}"


# What the table leaves open


def test_enabled_is_true_or_false(path: Path) -> None:
    assert defects(path, profile(enabled="yes", **KNOBS)) == [
        'loopDetection.enabled = `"yes"` — neither true nor false'
    ]
    (found,) = read(path, profile(**KNOBS))
    assert not found.armed
    assert "does not say `enabled`" in found.warnings[0]


def test_a_misspelled_knob_is_told(path: Path) -> None:
    (found,) = read(path, profile(enabled=False, windowWord=1))
    assert found.warnings == (
        "agent `Implementer`: loopDetection.windowWord is no knob and changes nothing",
    )


def test_a_block_is_an_object(path: Path) -> None:
    doc = {"name": "Implementer", "loopDetection": True}
    assert defects(path, doc) == ["loopDetection = `true` — not an object"]


def test_the_agents_of_a_file_are_judged_together(path: Path) -> None:
    docs = [
        {"id": "a", "name": "First", "loopDetection": {"enabled": True}},
        {"id": "b", "loopDetection": {"windowWords": 0}},
        {"loopDetection": {"minOffenders": 0}},
        7,
    ]
    with pytest.raises(ConfigError) as caught:
        read(path, {"agents": docs})
    agents = [defect.split(": ")[1] for defect in caught.value.defects]
    assert agents == ["agent `First`"] * 5 + ["agent `b`", "agent `#3`", "agent `#4`"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "Expecting value"),
        ("{", "line 1"),
        ('{"agents": []}', "no agent profile"),
        ('{"other": 1}', "no agent profile"),
        ("[" * 100_000, "nested too deeply"),
        ('[{"id": "a", "loopDetection": ' + "[" * 950 + "]" * 950 + "}]", ""),
        ('{"id": "a", "id": "b"}', "`id` is written twice"),
        ('[{"id": "a"}, {"id": "a"}]', "the id `a` belongs to 2 agents"),
        ("\udcff", "utf-8"),
    ],
)
def test_a_file_that_is_none(text: str, told: str, path: Path) -> None:
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    done = loopcheck("config", path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert told in done.stderr
    assert "bug" not in done.stderr
    assert "recursion" not in done.stderr


JSONC = """\ufeff// our agents
{
  "id": "implementer", /* not "the other" */
  "name": "Implementer // really",
  "loopDetection": {
    "enabled": true,
    "windowWords": 256,
    "repeatThreshold": 32,
    "minOffenders": 2,
    "minSaturatedRun": 3000,
    "maxResponseChars": 250000, // the backstop
  },
  "capabilities": [ "a,]", /* … */ ],
}
"""
TOML = """
[[agents]]
id = "implementer"
name = "Implementer // really"

[agents.loopDetection]
enabled = true
windowWords = 256
repeatThreshold = 32
minOffenders = 2
minSaturatedRun = 3_000
maxResponseChars = 250_000

[[agents]]
id = "other"
"""


def test_comments_and_trailing_commas(path: Path) -> None:
    (found,) = read(path, JSONC)
    assert found.name == "Implementer // really"
    assert found.config == SaturationConfig()
    assert jsonc.loads(JSONC[1:])["capabilities"] == ["a,]"]


def test_toml(tmp_path: Path) -> None:
    path = tmp_path / "loopcheck.toml"
    found = read(path, TOML)
    assert [(p.id, p.armed) for p in found] == [("implementer", True), ("other", False)]
    for written in ("1.5", "true", '"32"', "-1", "1979-05-27"):
        text = TOML.replace("windowWords = 256", f"windowWords = {written}")
        with pytest.raises(ConfigError, match="not a whole number of 0 or more"):
            read(path, text)
    with pytest.raises(ConfigError, match="line 1, column 5"):
        read(path, "x = \n")


@pytest.mark.parametrize(
    "doc",
    [
        profile(enabled=True, **KNOBS),
        [profile(enabled=True, **KNOBS)],
        {"agents": [profile(enabled=True, **KNOBS)]},
        {"profiles": [profile(enabled=True, **KNOBS)]},
        {"agents": {"implementer": profile(enabled=True, **KNOBS)}},
    ],
)
def test_the_shapes_of_a_file(doc: Any, path: Path) -> None:
    (found,) = read(path, doc)
    assert (found.id, found.name, found.armed) == ("implementer", "Implementer", True)


@pytest.mark.parametrize(
    ("name", "hint"),
    [("settings", True), ("settings.conf", True), ("agents.json", False), ("agents.JSONC", False)],
)
def test_toml_under_another_name_earns_a_hint(name: str, hint: bool, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path / name, 'rules = ["period"]\n')
    told = str(caught.value)
    assert told.endswith("; settings in TOML need a name that ends in .toml") == hint
    # What parses, or nearly does, is no TOML.
    for text in ('{"id": "a", "id": "b"}', "{}", "[" * 100_000):
        with pytest.raises(ConfigError) as caught:
            read(tmp_path / name, text)
        assert "TOML" not in str(caught.value)


def test_the_name_of_toml_may_be_in_capitals(tmp_path: Path) -> None:
    assert [profile.id for profile in read(tmp_path / "A.TOML", TOML)] == ["implementer", "other"]


def test_positions_stay_true(path: Path) -> None:
    with pytest.raises(ConfigError, match="line 4 column 8"):
        read(path, '{ // one\n/* two\n */ "a": 1,\n  "b"  }')


# The commands


@pytest.fixture
def two(path: Path) -> Path:
    small = KNOBS | {"minSaturatedRun": 6, "windowWords": 8, "repeatThreshold": 3}
    docs = [
        profile(enabled=True, **KNOBS),
        {"id": "small", "loopDetection": {"enabled": True} | small},
        {"id": "off", "loopDetection": {"enabled": False} | small},
    ]
    path.write_text(json.dumps(docs))
    return path


def test_config_shows_how_each_is_read(two: Path) -> None:
    done = loopcheck("config", two)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "agent `Implementer`: armed: windowWords 256, repeatThreshold 32, minOffenders 2, "
        "minSaturatedRun 3000, maxResponseChars 250000",
        f"agent `Implementer`: {ARMED}",
        "agent `small`: armed: windowWords 8, repeatThreshold 3, minOffenders 2, "
        "minSaturatedRun 6, maxResponseChars 250000",
        "agent `small`: loop detection: armed — a reply is abandoned after 6 consecutive words "
        "during which 2 or more words have each occurred more than 3 times in the last 8, or "
        "once it passes 250000 characters",
        "agent `off`: off: loopDetection is not enabled",
    ]
    one = loopcheck("config", "--agent", "off", two)
    assert one.stdout == "agent `off`: off: loopDetection is not enabled\n"


def test_one_of_several_must_be_named(two: Path) -> None:
    for arguments in (["--config", two], ["--config", two, "--agent", "nobody"]):
        filtered = loopcheck(*arguments)
        assert filtered.returncode == 2
        assert "(there is: implementer, small, off)" in filtered.stderr
        assert loopcheck("run", *arguments, "cat").returncode == 125


def test_an_agent_may_be_called_by_its_name(path: Path) -> None:
    docs = [
        {"id": "a", "name": "First"},
        {"id": "b", "name": "Twin"},
        {"id": "c", "name": "Twin"},
        {"id": "First", "name": "a"},
        {"name": "Nameless"},
    ]
    path.write_text(json.dumps(docs))
    found = settings_file.load(str(path))

    def named(agent: str) -> str | None:
        profile = found.pick(agent).profile
        return profile and profile.id

    assert [named(agent) for agent in ("a", "First", "b", "Nameless")] == ["a", "First", "b", ""]
    with pytest.raises(ConfigError, match="the name `Twin` belongs to 2 agents; name one of them"):
        named("Twin")
    for agent in ("", "nobody"):
        with pytest.raises(ConfigError, match=f"there is no agent `{agent}` "):
            named(agent)
    path.write_text(json.dumps([{"id": "a", "name": "First"}, {"id": "b"}]))
    done = loopcheck("config", "--agent", "First", path)
    assert done.stdout == "agent `First`: off: loopDetection is absent\n"


LOOP = ["sh", "-c", "yes 'void 0;' | head -n 20"]


def test_the_armed_line_is_printed_once_and_only_when_armed(two: Path) -> None:
    armed = loopcheck("run", "-v", "--config", two, "--agent", "implementer", "--", *LOOP)
    assert armed.stderr == f"loopcheck: {ARMED}\n"
    off = loopcheck("run", "-v", "--config", two, "--agent", "off", "--", *LOOP)
    assert (off.returncode, off.stderr) == (0, "")
    assert off.stdout == "void 0;\n" * 20


# What decides on windowWords: (flag, environment, profile), the words at the trip.
PRECEDENCE = [
    ([], {}, "small", 13),
    ([], {"LOOPCHECK_MIN_SATURATED_RUN": "8"}, "small", 15),
    (["--min-saturated-run", "9"], {"LOOPCHECK_MIN_SATURATED_RUN": "8"}, "small", 16),
    (["--preset", "gg"], {}, "small", 13),
    ([], {}, "off", None),
    (["--preset", "gg"], {}, "off", None),
    (["--min-saturated-run", "9"], {}, "off", None),
    (["--rules", "saturation"], {}, "off", 13),
    ([], {"LOOPCHECK_RULES": "saturation"}, "off", 13),
]


@pytest.mark.parametrize(("flags", "variables", "agent", "words"), PRECEDENCE)
def test_flag_before_environment_before_profile_before_preset(
    flags: list[str], variables: dict[str, str], agent: str, words: int | None, two: Path
) -> None:
    done = loopcheck(
        "run", "--retries", "0", *flags, "--config", two, "--agent", agent, "--", *LOOP, **variables
    )
    assert done.returncode == (123 if words else 0)
    if words:
        assert f", {words} words into the reply" in done.stderr


def test_the_environment_names_the_profile(two: Path) -> None:
    done = loopcheck("-v", LOOPCHECK_CONFIG=str(two), LOOPCHECK_AGENT="implementer")
    assert done.stderr.splitlines()[0] == f"loopcheck: {ARMED}"
    off = loopcheck("-v", "--config", two, "--agent", "off", stdin="hello\n")
    assert off.stderr == "loopcheck: <stdin>: done (text): 0 words, 0 characters\n"
    assert off.stdout == "hello\n"
