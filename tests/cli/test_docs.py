"""What README and the man pages say is what the program does.

Examples are run as they stand: every ``console`` block of the README, and every
``.EX`` block of the man pages that follows a ``.\\" run`` comment. A line that
begins with ``$`` is a command; what follows it is its output, both streams.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path

import click
import pytest
from processes import PATIENCE

from loopcli import __version__
from loopcli.cli import cli
from loopcli.commands.options import ENVIRONMENT_PREFIX
from loopcli.rules import table
from loopcli.status import RunStatus, Status, worst

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
MAN = {path.name: path.read_text("ascii") for path in sorted((ROOT / "man").iterdir())}
_ESCAPES = {r"\-": "-", r"\e": "\\", r"\(aq": "'", r"\(ga": "`", r"\(dq": '"', r"\[em]": "—"}
_ESCAPES |= {r"\(mu": "×", r"\(ha": "^", r"\(ti": "~", r"\&": "", r"\~": " ", r"\|": ""}
# The pages that have a command's options, and that command.
COMMANDS = {"loopcheck.1": cli} | {
    f"loopcheck-{name}.1": command
    for name in ("analyze", "journal", "run")
    if (command := cli.get_command(click.Context(cli), name))
}
analyze = COMMANDS["loopcheck-analyze.1"]


def options_of_all(name: str) -> click.Command:
    """A command that has the options of all commands of a group, each once."""
    group = cli.get_command(click.Context(cli), name)
    assert isinstance(group, click.Group)
    context = click.Context(group)
    options = {
        param.name: param
        for command in filter(
            None, map(partial(group.get_command, context), group.list_commands(context))
        )
        for param in command.params
        if isinstance(param, click.Option)
    }
    return click.Command(name, params=list(options.values()))


COMMANDS["loopcheck-guard.1"] = options_of_all("guard")
KNOBS = [knob for entry in table.RULES.values() for knob in entry.knobs]
_HELP_DEFAULT = re.compile(r"\[default: ([^]]*)\]")


def unescaped(roff: str) -> str:
    return re.sub("|".join(map(re.escape, _ESCAPES)), lambda m: _ESCAPES[m[0]], roff)


def section(page: str, title: str) -> str:
    found = re.search(rf"^\.SH {title}\n(.*?)(?=^\.SH |\Z)", MAN[page], re.M | re.S)
    assert found, title
    return unescaped(found[1])


def paragraphs(text: str) -> Iterator[tuple[str, str]]:
    """Yield the tag of each ``.TP`` without its fonts, and what is said under it."""
    for part in f"\n{text}".split("\n.TP\n")[1:]:
        tag, _, body = part.partition("\n")
        macro, _, arguments = tag.partition(" ")
        assert macro in {".B", ".BI", ".BR", ".RI"}, tag
        words = re.findall(r'"([^"]*)"|(\S+)', arguments)
        yield "".join(quoted or bare for quoted, bare in words), body.partition("\n.SS ")[0]


def options_of(command: click.Command) -> list[click.Option]:
    context = click.Context(command, **cli.context_settings | command.context_settings)
    return [param for param in command.get_params(context) if isinstance(param, click.Option)]


def filter_options() -> list[click.Option]:
    return options_of(cli)


def argument(option: click.Option) -> str:
    if option.is_flag:
        return ""
    choices = getattr(option.type, "choices", ())
    return option.metavar or "|".join(choices)


def long_flag(option: click.Option) -> str:
    return max(option.opts, key=len)


# The options


@pytest.mark.parametrize(("page", "command"), COMMANDS.items(), ids=str)
def test_the_man_page_has_the_options_with_their_arguments_and_defaults(
    page: str, command: click.Command
) -> None:
    written = {}
    for tag, body in paragraphs(section(page, "OPTIONS")):
        parts = re.fullmatch(r"((?:-\w, )?--[\w-]+(?:, --no-[\w-]+)?)(?: (.+))?", tag)
        assert parts, tag
        default = re.search(r"^Default: (.*)\.$", body, re.M)
        flags = tuple(sorted(parts[1].split(", ")))
        written[flags] = parts[2] or "", default and default[1]
    wanted = {}
    for option in options_of(command):
        default = _HELP_DEFAULT.search(option.help or "")
        flags = tuple(sorted([*option.opts, *option.secondary_opts]))
        wanted[flags] = argument(option), default and default[1]
    assert written == wanted


# Those of analyze are texts that it judges itself.
DEFAULTS = [
    o for command in COMMANDS.values() if command is not analyze for o in options_of(command)
]


@pytest.mark.parametrize("option", DEFAULTS, ids=long_flag)
def test_the_help_names_the_true_default(option: click.Option) -> None:
    named = _HELP_DEFAULT.search(option.help or "")
    knobs = {knob.name: knob.default for knob in KNOBS}
    if option.name in knobs:
        assert named
        assert named[1] == str(knobs[option.name])
    elif named and option.name not in ("rules", "watch"):
        assert type(option.default)(named[1]) == option.default


def test_the_statuses_of_analyze() -> None:
    written = [tag for tag, _ in paragraphs(section("loopcheck-analyze.1", "EXIT STATUS"))]
    never = {Status.LENGTH, Status.TIME_LIMIT}  # nothing trips there, and nothing waits
    assert written == [str(int(s)) for s in Status if s not in never] + ["128+n"]
    order = [s for s in sorted(Status, key=lambda s: severity(s)) if s not in never]
    listed = ", ".join(str(int(status)) for status in order)
    assert f"{listed}." in section("loopcheck-analyze.1", "EXIT STATUS")


def severity(status: Status) -> int:
    return sum(worst([status, other]) is status for other in Status)


SETTINGS = [
    (command, option)
    for command in (cli, COMMANDS["loopcheck-run.1"])
    for option in options_of(command)
    if long_flag(option) not in {"--help", "--version"}
]


@pytest.mark.parametrize(("command", "option"), SETTINGS, ids=str)
def test_the_environment_stands_for_an_option(command: click.Command, option: click.Option) -> None:
    variable = f"{ENVIRONMENT_PREFIX}_{long_flag(option)[2:].upper().replace('-', '_')}"
    value = {"--preset": "gg", "--rules": "saturation"}.get(long_flag(option), "1")
    context = click.Context(command, **command.context_settings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(variable, value)
        assert option.resolve_envvar_value(context) == value, f"{variable} is not looked at"


# The statuses


def test_readme_man_page_and_help_have_the_same_statuses() -> None:
    rows = re.findall(r"^\| (\d|128\+n) \| (.*) \|$", README, re.M)
    numbers = [str(int(status)) for status in Status] + ["128+n"]
    assert [number for number, _ in rows] == numbers
    written = {}
    for tag, body in paragraphs(section("loopcheck.1", "EXIT STATUS")):
        meaning = re.sub(r"^\.[A-Z]+ ", "", body.partition("\n.P")[0], flags=re.M)
        written[tag] = " ".join(meaning.split()).replace(" :", ":")
    assert written == dict(rows)
    helped = re.findall(r"(?:^|\s)(\d|128\+n) [a-z]", cli.epilog or "")
    assert helped == numbers


def test_the_statuses_of_run() -> None:
    written = {
        tag: body.partition("\n.P")[0].strip()
        for tag, body in paragraphs(section("loopcheck-run.1", "EXIT STATUS"))
    }
    numbers = [str(int(status)) for status in RunStatus]
    assert list(written) == [*numbers, "128+n"]
    helped = COMMANDS["loopcheck-run.1"].epilog or ""
    assert re.findall(r"(?:^|\s)(\d{3}|128\+n) [a-z]", helped) == [*numbers, "128+n"]


def test_the_order_of_the_statuses() -> None:
    order = re.search(r"worst one is used: ([\d< ]+)\.", README)
    assert order
    statuses = [Status(int(number)) for number in order[1].split(" < ")]
    assert sorted(statuses) == sorted(Status)
    for milder, graver in pairwise(statuses):
        assert worst([milder, graver]) is graver
    listed = ", ".join(str(int(status)) for status in statuses)
    assert f"{listed}." in section("loopcheck.1", "EXIT STATUS")


# The rules


def test_the_rules_command_names_every_knob_and_blind_spot(sandbox: Path) -> None:
    shown = run("loopcheck rules", sandbox)
    for entry in table.RULES.values():
        assert f"{entry.name}: {entry.title}" in shown
        for knob in entry.knobs:
            assert f"{knob.flag} (default {knob.default})\n      {knob.help}" in shown
        for spot in entry.blind_spots:
            assert spot in shown


@pytest.mark.parametrize("page", ["loopcheck.1", "loopcheck.7"])
def test_every_blind_spot_is_stated(page: str) -> None:
    words = " ".join(section(page, "CAVEATS").split())
    for entry in table.RULES.values():
        for spot in entry.blind_spots:
            assert re.split(r" \(", spot)[0] in words


def test_the_theory_has_every_figure() -> None:
    text = section("loopcheck.7", "DESCRIPTION")
    for knob in KNOBS:
        assert f".BR {knob.flag[2:]} {knob.default}\n" in text


# The examples


def readme_examples() -> Iterator[tuple[str, str]]:
    for block in re.findall(r"^```console\n(.*?)^```$", README, re.M | re.S):
        yield from examples(block)


def man_examples(page: str) -> Iterator[tuple[str, str]]:
    for block in re.findall(r'^\.\\" run\n\.EX\n(.*?)^\.EE$', MAN[page], re.M | re.S):
        yield from examples(unescaped(block))


def examples(block: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


ALL_EXAMPLES = [
    *readme_examples(),
    *(example for page in MAN for example in man_examples(page)),
]


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory like a fresh clone, with this tree's loopcheck on the PATH."""
    directory = tmp_path_factory.mktemp("docs")
    (directory / "fixtures").symlink_to(ROOT / "fixtures")
    script = directory / "bin" / "loopcheck"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m loopcli "$@"\n')
    script.chmod(0o755)
    return directory


def run(command: str, sandbox: Path) -> str:
    environ = {k: v for k, v in os.environ.items() if not k.startswith(ENVIRONMENT_PREFIX)}
    environ |= {
        "PATH": f"{sandbox / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "PYTHONUTF8": "1",
        "LC_ALL": "C.UTF-8",
    }
    return subprocess.run(
        ["bash", "-c", command],
        cwd=sandbox,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=PATIENCE,
        check=False,
    ).stdout.decode()


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 250


def test_there_are_examples() -> None:
    assert list(readme_examples())
    assert all(list(man_examples(page)) for page in MAN)
    assert len(PYTHON) >= 5


PYTHON = re.findall(r"^```python\n(.*?)^```$", README, re.M | re.S)


@pytest.mark.parametrize("program", PYTHON, ids=range(len(PYTHON)))
def test_the_programs_print_what_the_readme_says(program: str) -> None:
    promised = re.findall(r"^# prints: (.*)$", program, re.M)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.stderr == ""
    assert promised
    assert set(promised) <= set(done.stdout.splitlines())


def test_the_examples_print_what_the_documents_say(sandbox: Path) -> None:
    # In one test, because an example may read what the one before it wrote.
    wrong = []
    for command, output in ALL_EXAMPLES:
        got = run(command, sandbox)
        # Several processes of a pipe write to it; which of them is the first is not promised.
        if sorted(got.splitlines()) != sorted(output.splitlines()):
            wrong.append(f"$ {command}\n--- written:\n{output}--- got:\n{got}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("command", [c for page in MAN for c, _ in man_examples(page)])
def test_examples_with_figures_name_their_rules(command: str) -> None:
    judges = re.search(r"\bloopcheck\b(?! (?:config|guard|journal)|\.)", command)
    if judges and "< /dev/null" not in command and "--config quick.toml" not in command:
        assert "--preset " in command or "--rules " in command


def ci_command(name: str) -> str:
    found = re.search(rf"^<!-- ci: {name} -->\n```sh\n(.*)\n```$", README, re.M)
    assert found, f"one line of shell after <!-- ci: {name} -->"
    return found[1]


def test_the_demo_prints_what_the_readme_says(sandbox: Path) -> None:
    install, _, demo = ci_command("demo").rpartition(" && ")
    assert install == "python3 -m venv .venv && .venv/bin/pip install -q ."
    printed = re.search(r"^```text\n(.*?)^```$", README, re.M | re.S)
    assert printed
    assert run(demo.replace(".venv/bin/", ""), sandbox) == printed[1]


def test_the_test_command_runs_these_tests() -> None:
    assert ci_command("test").endswith(".venv/bin/python -m pytest -q -n auto")


# The pages


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is missing")
@pytest.mark.parametrize("device", ["-z", "-Tutf8"])
@pytest.mark.parametrize("page", MAN)
def test_groff_has_nothing_to_say(page: str, device: str) -> None:
    done = subprocess.run(
        ["groff", "-man", "-ww", device, str(ROOT / "man" / page)], capture_output=True, check=True
    )
    assert done.stderr == b""


@pytest.mark.parametrize("page", MAN)
def test_the_page_has_its_head(page: str) -> None:
    name, number = page.upper().split(".")
    assert re.search(rf"^\.TH {name} {number} \d{{4}}-\d\d-\d\d ", MAN[page], re.M)
    titles = re.findall(r"^\.SH (.*)$", MAN[page], re.M)
    order = "NAME SYNOPSIS DESCRIPTION OPTIONS EXIT_STATUS ENVIRONMENT FILES NOTES CAVEATS EXAMPLES"
    known = [*order.replace("_", "-").split(), "SEE-ALSO"]
    places = [known.index(title.replace(" ", "-")) for title in titles]
    assert places == sorted(set(places))


@pytest.mark.parametrize("page", MAN)
def test_the_wheel_installs_the_page(page: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    installed = project["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    assert installed[f"man/{page}"] == f"share/man/man{page[-1]}/{page}"
    assert f"{page[:-2]}({page[-1]})" in README


CONTRIBUTING = (ROOT / ".github" / "CONTRIBUTING.md").read_text("utf-8")


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`([\w.-]+/[\w./-]*)`", CONTRIBUTING))))
def test_the_page_for_contributors_names_what_is_there(path: str) -> None:
    assert (ROOT / path).exists() or (ROOT / "loopcli" / path).exists()


def test_the_version(sandbox: Path) -> None:
    assert run("loopcheck --version", sandbox) == f"loopcheck {__version__}\n"
