"""Settings of our own in the TOML of ``--config``: what may stand there, and who goes first."""

from __future__ import annotations

from pathlib import Path

import pytest
from processes import loopcheck

from loopcli.errors import ConfigError
from loopcli.events import Channel
from loopcli.output import tuning
from loopcli.rules import table
from loopcli.rules.novelty.config import NoveltyConfig
from loopcli.rules.period.config import PeriodConfig
from loopcli.rules.saturation.config import SaturationConfig
from loopcli.settings import file as settings_file
from loopcli.settings.arming import DEFAULT_RULES, FileSettings, Settings, resolve

ALL = "".join(
    f"[{entry.name}]\n"
    + "".join(f"{knob.flag[2:]} = {7 + i}\n" for i, knob in enumerate(entry.knobs))
    for entry in table.RULES.values()
)
SMALL = """
rules = ["period", "saturation"]
watch = ["content", "reasoning"]

[saturation]
window-words = 8
min-saturated-run = 0x6

[period]
period-letters = 300
"""
AGENT = """
[[agents]]
id = "armed"
[agents.loopDetection]
enabled = true
windowWords = 16
repeatThreshold = 3
minOffenders = 2
minSaturatedRun = 6
maxResponseChars = 0

[[agents]]
id = "off"
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "loopcheck.toml"


def armed(path: Path, text: str, agent: str | None = None) -> Settings:
    path.write_text(text)
    return resolve(settings_file.load(str(path)).pick(agent))


def test_every_knob_may_be_set(path: Path) -> None:
    found = armed(path, ALL)
    for entry in table.RULES.values():
        assert list(found.knobs(entry.name).values()) == list(range(7, 7 + len(entry.knobs)))
    assert found.names == ("saturation", "period")


def test_rules_channels_and_what_is_not_said(path: Path) -> None:
    found = armed(path, SMALL)
    assert found.names == ("period", "saturation")
    assert found.channels == {Channel.CONTENT, Channel.REASONING}
    assert found.configs["saturation"] == SaturationConfig(8, 32, 2, 6)
    assert found.configs["period"] == PeriodConfig()._replace(period_letters=300)
    assert armed(path, 'watch = ["all"]').channels == set(Channel)


def test_what_suggest_prints_is_a_configuration(path: Path) -> None:
    found = armed(path, tuning.config("saturation", SaturationConfig(64, 8, 3, 100, 9000)))
    assert found.configs["saturation"] == SaturationConfig(64, 8, 3, 100, 9000)
    assert found.names == DEFAULT_RULES
    for rules in (("novelty",), ("period", "novelty")):
        found = armed(path, tuning.config("novelty", NoveltyConfig(50, 2), rules))
        assert (found.names, found.configs["novelty"]) == (rules, NoveltyConfig(50, 2))
        assert found.warnings == ()
    # In another order they are the default all the same.
    assert "rules" not in tuning.config("period", PeriodConfig(), ("period", "saturation"))


def test_knobs_of_a_rule_that_is_not_armed_earn_a_warning(path: Path) -> None:
    told = "[novelty] novelty-seen changes nothing, because the novelty rule is not armed"
    text = "[novelty]\nnovelty-seen = 2\n"
    assert armed(path, text).warnings == (told,)
    assert armed(path, "rules = ['novelty']\n" + text).warnings == ()
    base = settings_file.load(str(path)).pick(None)
    assert resolve(base, rules="period").warnings == (told,)
    # A flag for the same knob is warned of as a flag.
    assert resolve(base, {"novelty_seen": ("--novelty-seen", "3")}, rules="period").warnings == ()
    assert resolve(FileSettings(knobs=base.knobs), preset="gg").warnings == (told,)
    for command in ("config",), ("analyze", "--config"):
        path.write_text(text)
        assert f"warning: {told}\n" in loopcheck(*command, path, *command[1:] and [path]).stderr


def test_a_profile_must_state_its_knobs_and_is_not_warned_of_them(path: Path) -> None:
    path.write_text(AGENT)
    assert resolve(settings_file.load(str(path)).pick("armed"), rules="period").warnings == ()
    assert armed(path, "[period]\nperiod-copies = 3\n" + AGENT, "off").warnings == ()
    (told,) = armed(path, "[period]\nperiod-copies = 3\n" + AGENT, "armed").warnings
    assert told.startswith("[period] period-copies changes nothing")


DEFECTS = {
    "windows = 3": "`windows` is no setting (there is: rules, watch, results, ",
    "[saturation]\nperiod-data = 3": "[saturation] `period-data` is no setting (there is: window-w",
    "period = 3": "period = `3`: not a table of knobs",
    "rules = 'period'": 'rules = `"period"`: not a list of names',
    "rules = []": "rules: no rule is named",
    "rules = ['nosuch']": "rules: unknown rule `nosuch` (there is: ",
    "watch = ['nosuch']": "watch: unknown channel `nosuch` (there is: ",
    "[period]\nperiod-data = 0": "[period] period-data = `0`: every reply would be a loop",
    "[period]\nperiod-data = -1": "[period] period-data = `-1`: not a whole number of 0 or more",
    "[period]\nperiod-data = 1.5": "[period] period-data = `1.5`: not a whole number of 0 or more",
    "[period]\nperiod-data = true": "[period] period-data = `true`: not a whole number",
    "[period]\nperiod-data = '9'": '[period] period-data = `"9"`: not a whole number of 0 or more',
    "[novelty]\nnovelty-seen = 1e400": "[novelty] novelty-seen = `1e400`: not a whole number",
    "": "neither a setting nor an agent profile is in it",
    "[saturation\n": "(at line 1, column 12)",
    "rules = " + "[" * 5000: "nested too deeply",
    "[period]\nperiod-data = " + "9" * 5000: "a number has too many digits",
    "[period]\nperiod-data = 0x" + "9" * 5000: "[period] period-data = `…`: not a whole number",
}


@pytest.mark.parametrize("text", DEFECTS)
def test_what_is_refused_and_why(text: str, path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        armed(path, text)
    (defect,) = caught.value.defects
    assert defect.startswith(f"{path}: ")
    assert DEFECTS[text] in defect


def test_all_defects_of_a_file_are_told_together(path: Path) -> None:
    path.write_text(
        "rules = ['x']\nwatch = 1\n[period]\nperiod-data = 0\nodd = 1\n"
        "[[agents]]\nid = 'a'\nloopDetection = {windowWords = 0}\n"
    )
    done = loopcheck("--config", path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 5
    assert all(line.startswith(f"loopcheck: {path}: ") for line in done.stderr.splitlines())


def test_an_agent_and_what_the_file_says_beside_it(path: Path) -> None:
    found = armed(path, SMALL + AGENT, "armed")
    # The profile's knobs before the file's; the rules that the file names beside its own.
    assert found.names == ("saturation", "period")
    assert found.configs["saturation"] == SaturationConfig(16, 3, 2, 6, 0)
    assert found.configs["period"].period_letters == 300
    assert armed(path, AGENT, "armed").names == ("saturation",)
    assert armed(path, SMALL + AGENT, "off").names == ()


def test_an_agent_of_a_file_without_agents(path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no agent `a`"):
        armed(path, SMALL, "a")


def test_flag_before_environment_before_file_before_preset(path: Path) -> None:
    path.write_text(SMALL)

    def begins(*flags: str, **more: str) -> str:
        return loopcheck("-v", "--config", path, *flags, **more).stderr.splitlines()[0]

    assert "in the last 8, or once" in begins("--preset", "gg")
    assert "in the last 9, or once" in begins(LOOPCHECK_WINDOW_WORDS="9")
    assert "in the last 7, or once" in begins("--window-words", "7", LOOPCHECK_WINDOW_WORDS="9")
    assert "copy what" in begins()
    assert "copy what" not in begins("--rules", "saturation")


def test_config_shows_how_settings_are_read(path: Path) -> None:
    path.write_text(SMALL)
    done = loopcheck("config", path)
    period, saturation, watches, line = done.stdout.splitlines()
    assert period.startswith(f"{path}: period: period-letters 300, period-signs 1200, ")
    assert saturation.startswith(f"{path}: saturation: window-words 8, repeat-threshold 32, ")
    assert watches == f"{path}: watches content, reasoning"
    assert line.startswith(f"{path}: loop detection: armed — a reply is abandoned after 300 chara")
    path.write_text(SMALL + AGENT)
    done = loopcheck("config", path)
    assert [line.partition(": ")[2].partition(" ")[0] for line in done.stdout.splitlines()] == [
        "armed:", "period:", "watches", "loop", "off:",
    ]  # fmt: skip


def test_the_filter_run_and_analyze_take_the_same_file(path: Path, tmp_path: Path) -> None:
    path.write_text(SMALL.replace("0x6", "6\nrepeat-threshold = 3"))
    reply = tmp_path / "reply.txt"
    reply.write_text("void 0;\n" * 40)
    filtered = loopcheck("--config", path, stdin=reply.read_text())
    assert (filtered.returncode, len(filtered.stdout)) == (3, 53)
    report = tmp_path / "report"
    ran = loopcheck("run", "--config", path, "--stream", "--report", report, "--", "cat", reply)
    assert (ran.returncode, len(ran.stdout)) == (123, 53)
    assert '"words":13,"chars":53' in report.read_text()
    replayed = loopcheck("analyze", "--config", path, "--format", "jsonl", reply)
    assert '"trip_word":13,"trip_char":53' in replayed.stdout


def test_nothing_to_analyze_by(path: Path) -> None:
    path.write_text(AGENT)
    done = loopcheck("analyze", "--config", path, "--agent", "off", path)
    assert done.returncode == 2
    assert done.stderr == (
        "loopcheck: agent `off`: loop detection is off, so there is no rule to analyse with\n"
    )
