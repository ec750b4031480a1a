"""The help: what a newcomer needs on the first screen, then the options in groups."""

from __future__ import annotations

import re

import click
import pytest

from loopcli.cli import cli
from loopcli.rules import table
from loopcli.rules.registration import Judged
from tests.support.processes import loopcheck


def sections(*command: str) -> dict[str, str]:
    """The sections of a command's help, by their headings, in order."""
    text = loopcheck(*command, "--help").stdout
    parts = re.split(r"^([A-Z][^\n]*):$", text, flags=re.M)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


FIRST = ["What is watched", "What is done", "Output", "Limits"]
# Only rules that have knobs have a group.
RULES = dict.fromkeys(entry for entry, _ in table.knobs())
KNOBS = [f"Knobs of the {e.name} rule" for e in RULES if e.judges is Judged.TEXT]
SESSIONS = ["Sessions of agents"]
SESSIONS += [
    f"Knobs of the {e.name} rule for sessions" for e in RULES if e.judges is Judged.SESSION
]


@pytest.mark.parametrize(
    ("command", "headings"),
    [
        ([], ["Commands", *FIRST, "Other options", *KNOBS, *SESSIONS]),
        (["run"], [*FIRST, "Records", "Other options", *KNOBS, *SESSIONS]),
        (["analyze"], [*FIRST, "Other options", *KNOBS, *SESSIONS]),
    ],
    ids=str,
)
def test_the_groups_are_in_order(command: list[str], headings: list[str]) -> None:
    assert list(sections(*command)) == headings


@pytest.mark.parametrize("name", ["", "run", "analyze"])
def test_only_what_is_asked_of_every_command_has_no_group(name: str) -> None:
    context = click.Context(cli)
    command = cli.get_command(context, name) if name else cli
    assert command is not None
    others = set(re.findall(r"--[\w-]+", sections(*filter(None, [name]))["Other options"]))
    assert others <= {"--help", "--version"}
    shown = set(
        re.findall(
            r"^  (?:-\w, )?(--[\w-]+)", loopcheck(*filter(None, [name]), "--help").stdout, re.M
        )
    )
    its = click.Context(command, **command.context_settings)
    options = [p for p in command.get_params(its) if isinstance(p, click.Option)]
    assert {max(option.opts, key=len) for option in options} | {"--help"} == shown


def test_each_knob_is_in_the_group_of_its_rule() -> None:
    grouped = sections()
    for entry, knob in table.knobs():
        (heading,) = [name for name in grouped if name.startswith(f"Knobs of the {entry.name} ")]
        assert f"  {knob.flag} N" in grouped[heading]


def test_the_first_screen_is_enough_to_begin() -> None:
    screen = "\n".join(loopcheck("--help").stdout.splitlines()[:25])
    assert "curl -sSN https://… | loopcheck" in screen
    assert "loopcheck --dry-run saved.sse" in screen
    for name in cli.list_commands(click.Context(cli)):
        assert f"\n  {name}  " in screen
    assert "3 a loop" in screen
    assert "..." not in screen.partition("Commands:")[2]  # no cut sentence


def test_no_line_is_wider_than_a_terminal() -> None:
    for name in ("", "run", "analyze", "journal", "config", "completion", "help"):
        text = loopcheck(*filter(None, [name]), "--help").stdout
        assert max(map(len, text.splitlines())) <= 80
