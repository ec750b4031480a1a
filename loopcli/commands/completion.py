"""``loopcheck completion``: prints the script that has a shell complete what is typed."""

from __future__ import annotations

import click
from click.shell_completion import (
    BashComplete,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
)

from loopcli.commands.printing import printed_lines

VARIABLE = "_LOOPCHECK_COMPLETE"


class Bash(BashComplete):
    """click's completion for bash, with two differences.

    Names of files are offered beside other words, not instead of them. And the equals
    sign of ``--rules=period``, which bash makes a word of its own, is left out.
    """

    source_template = """\
%(complete_func)s() {
    local type value
    COMPREPLY=()
    while IFS=',' read -r type value; do
        if [[ $type == file ]]; then
            compopt -o filenames
            mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$value")
        elif [[ $type == plain ]]; then
            COMPREPLY+=("$value")
            [[ $value != *= ]] || compopt -o nospace
        fi
    done < <(IFS=$'\\n'; COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD=$COMP_CWORD \\
        %(complete_var)s=bash_complete "$1")
}
complete -F %(complete_func)s %(prog_name)s
"""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the one that is completed, and that one."""
        words, incomplete = super().get_completion_args()
        return [word for word in words if word != "="], incomplete


_SHELLS: dict[str, type[ShellComplete]] = {"bash": Bash, "zsh": ZshComplete, "fish": FishComplete}


def register() -> None:
    """Have a completion for bash use the class that its script was made for."""
    add_completion_class(Bash)


@click.command("completion", short_help="Print what makes a shell complete the command line.")
@click.argument("shell", type=click.Choice(list(_SHELLS)), metavar="bash|zsh|fish")
@click.pass_context
def command(ctx: click.Context, shell: str) -> int:
    """Print the script that completes commands, options, their values and file names.

    \b
    eval "$(loopcheck completion bash)"       in ~/.bashrc (bash 4.4 or newer)
    eval "$(loopcheck completion zsh)"        in ~/.zshrc, after compinit
    loopcheck completion fish | source        in ~/.config/fish/config.fish
    """
    script = _SHELLS[shell](ctx.find_root().command, {}, "loopcheck", VARIABLE)
    # click's own source() of bash would run a bash to see how old it is.
    return printed_lines([(script.source_template % script.source_vars()).encode()])
