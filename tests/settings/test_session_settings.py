"""What is written for sessions: loop keys, actions, escalation; flags, files, presets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loopcli.errors import ConfigError
from loopcli.loop_keys import NEVER_COUNTED
from loopcli.rules import table
from loopcli.rules.registration import Judged
from loopcli.session_judge import armed_judge
from loopcli.settings import file, session_texts
from loopcli.settings.arming import DEFAULT_RULES, FileSettings, Settings, resolve
from loopcli.settings.sessions import SessionSettings

NOTHING = SessionSettings()


def test_loop_keys_of_flags() -> None:
    keys = session_texts.loop_keys(
        "--loop-key", ["bash=command, cwd", "poll=false", "a=b=c", "bash=command"]
    )
    assert keys["poll"] is NEVER_COUNTED
    assert [field.name for field in keys["bash"].fields or ()] == ["command"]
    assert [field.name for field in keys["a=b"].fields or ()] == ["c"]


@pytest.mark.parametrize("text", ["bash", "=q", "bash=", "bash=,", ""])
def test_loop_keys_that_mean_nothing(text: str) -> None:
    with pytest.raises(ConfigError, match="not TOOL=FIELD,FIELD nor TOOL=false"):
        session_texts.loop_keys("--loop-key", [text])


def test_actions_of_flags_in_the_order_of_the_last_word() -> None:
    found = session_texts.actions("--action", ["a=stop", "b=block", "a=observe"])
    assert list(found.items()) == [("b", "block"), ("a", "observe")]


def test_everything_that_is_wrong_is_reported_together() -> None:
    with pytest.raises(ConfigError) as error:
        session_texts.actions("--action", ["a", "b=halt", "c=stop", "=stop"])
    assert len(error.value.defects) == 3
    assert "observe, steer, escalate, block, stop" in error.value.defects[0]


TOML = """
results = false

[streaks]
stop = 9

[loop-keys]
bash = ["command", "cwd"]
poll = false

[loop-keys.search]
fields = { query = { trim = true, lower = true, drop = "[0-9]+" }, page = {} }
unless = { mode = "^background$" }

[loop-keys.edit]
fields = ["path"]

[actions]
poll = "observe"

[escalation]
model = "large"
advisor = true
"""


def load(tmp_path: Path, text: str) -> FileSettings:
    """The settings of a TOML file."""
    path = tmp_path / "settings.toml"
    path.write_text(text)
    return file.load(str(path)).pick(None)


def test_a_file(tmp_path: Path) -> None:
    base = load(tmp_path, TOML)
    keys = base.sessions.loop_keys
    assert keys["poll"] is NEVER_COUNTED
    query, page = keys["search"].fields or ()
    assert (query.apply(" Cats 12 "), page.name) == ("cats", "page")
    assert keys["search"].skips({"mode": "background"})
    assert [field.name for field in keys["edit"].fields or ()] == ["path"]
    settings = resolve(base, sessions=NOTHING)
    assert settings.setup.actions == {"poll": "observe"}
    assert (settings.setup.model, settings.setup.advisor) == ("large", True)
    assert (settings.setup.results, settings.setup.stated) == (False, {"stop"})


DEFECTS: dict[str, str] = {
    'results = "yes"': "not true or false",
    "actions = 5": "not a table",
    "[actions]\npoll = 5": "not the name of an action",
    '[actions]\npoll = "halt"': "there is: observe, steer",
    '[escalation]\nspeed = "high"': "`speed` is no setting",
    "[escalation]\nmodel = true": "not a text",
    '[escalation]\nadvisor = "yes"': "not true or false",
    "[loop-keys]\nbash = 5": "not a list of fields, false or a table",
    "[loop-keys]\nbash = []": "not a list of fields, false or a table",
    "[loop-keys]\nbash = [5]": "not a list of fields, false or a table",
    "[loop-keys.bash]\nfields = []": "no field would identify a call",
    "[loop-keys.bash]\nfields = 5": "not a list nor a table",
    "[loop-keys.bash]\nfields = { q = 5 }": "not a table",
    "[loop-keys.bash]\nfields = { q = { upper = true } }": "`upper` is no setting",
    '[loop-keys.bash]\nfields = { q = { trim = "yes" } }': "not true or false",
    '[loop-keys.bash]\nfields = { q = { drop = "(" } }': "not a regular expression",
    "[loop-keys.bash]\nfields = { q = { drop = 5 } }": "not a regular expression",
    '[loop-keys.bash]\nunless = "x"': "not a table",
    "[loop-keys.bash]\nskip = 1": "`skip` is no setting",
}


@pytest.mark.parametrize("text", DEFECTS)
def test_a_defect_refuses_the_file_and_names_its_place(text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as error:
        load(tmp_path, text)
    (defect,) = error.value.defects
    assert DEFECTS[text] in defect
    assert "settings.toml: " in defect


def test_a_flag_goes_before_the_file(tmp_path: Path) -> None:
    base = load(tmp_path, TOML)
    flags = SessionSettings(
        loop_keys=session_texts.loop_keys("--loop-key", ["poll=id"]), model="huge", results=True
    )
    setup = resolve(base, sessions=flags).setup
    assert (setup.model, setup.results) == ("huge", True)
    assert setup.loop_keys["poll"].fields
    assert setup.loop_keys["bash"].fields


# --- What is armed -------------------------------------------------------------------------------


def armed(**chosen: Any) -> Settings:
    """What a command for sessions arms."""
    return resolve(FileSettings(), sessions=NOTHING, **chosen)


def test_sessions_are_judged_by_default_and_by_what_is_named() -> None:
    assert armed().names == DEFAULT_RULES
    assert armed().session_names == ("streaks", "tails")
    assert armed(rules="period").session_names == ()
    assert armed(rules="period,tails").session_names == ("tails",)
    assert armed(preset="gg").session_names == ()


def test_the_preset_of_the_document_has_neither_results_nor_cycles() -> None:
    settings = armed(preset="openrouter")
    assert settings.session_names == settings.names == ("streaks", "tails")
    assert settings.knobs("streaks")["max_cycle"] == 0
    assert not settings.setup.results
    assert settings.rules() == []
    mine = armed()
    assert (mine.knobs("streaks")["max_cycle"], mine.setup.results) == (5, True)
    changed = resolve(
        FileSettings(),
        {"max_cycle": ("--max-cycle", "3")},
        preset="openrouter",
        sessions=SessionSettings(results=True),
    )
    assert (changed.knobs("streaks")["max_cycle"], changed.setup.results) == (3, True)


def test_a_command_that_judges_no_sessions_refuses_their_rules() -> None:
    with pytest.raises(ConfigError, match="`tails` judges sessions"):
        resolve(FileSettings(), rules="period,tails")
    base = FileSettings(names=("period", "streaks"))
    assert resolve(base).names == ("period",)
    assert resolve(base).session_names == ()


def test_the_ladder_has_an_effect_for_every_rule_of_sessions(tmp_path: Path) -> None:
    base = load(tmp_path, 'rules = ["tails"]\n[streaks]\nstop = 4\n[period]\nperiod-letters = 9')
    (warning,) = resolve(base, sessions=NOTHING).warnings
    assert "period-letters changes nothing" in warning
    assert "streaks" in armed(rules="tails").judging


@pytest.mark.parametrize("name", table.judging(Judged.SESSION))
def test_a_rule_for_sessions_is_made_as_it_is_registered(name: str) -> None:
    settings = armed(rules=name)
    judge = armed_judge(settings.session_names, settings.configs, settings.setup)
    assert judge is not None
    assert armed_judge((), settings.configs, settings.setup) is None
    assert list(judge.peaks()) == [name]
    assert table.RULES[name].armed(settings.configs[name])
