"""``loopcheck completion``: prints the script that has a shell complete what is typed.

The scripts are click's, with what they lack: the value of ``--rules=period`` is completed
behind its option, a list with commas is one value, and names of files stand beside others.
"""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
)

from loopcli.commands.printing import printed_lines

VARIABLE = "_LOOPCHECK_COMPLETE"


class _WithOptions(ShellComplete):
    """Completes ``--option=value`` as the one word that it is to a shell."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[Any]]:
        """Return the completions; those of a value begin with its option."""
        items = super().get_completions(args, incomplete)
        option, equals, _ = incomplete.partition("=")
        if equals and option.startswith("--"):
            for item in items:
                item.value = item.value if item.type == "file" else f"{option}={item.value}"
        return items


class Bash(_WithOptions, BashComplete):
    """For bash, which makes the equals sign a word of its own; it is left out."""

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


class Zsh(_WithOptions, ZshComplete):
    """For zsh, which is told to leave the option before a file name alone."""

    source_template = ZshComplete.source_template.replace(
        "_path_files -f", "compset -P '--*='; _path_files -f"
    )


class Fish(_WithOptions, FishComplete):
    """For fish."""

    source_template = """\
function %(complete_func)s
    set -l response (env %(complete_var)s=fish_complete COMP_WORDS=(commandline -cp) \\
        COMP_CWORD=(commandline -t) %(prog_name)s)
    set -l option (string match -r -- '^--[^=]+=' (commandline -t))
    for completion in $response
        set -l parts (string split -m 1 "," -- $completion)
        if test $parts[1] = file
            for path in (__fish_complete_path $parts[2])
                echo "$option$path"
            end
        else
            echo $parts[2]
        end
    end
end
complete --no-files --command %(prog_name)s --arguments "(%(complete_func)s)"
"""


_SHELLS: dict[str, type[ShellComplete]] = {"bash": Bash, "zsh": Zsh, "fish": Fish}


def register() -> None:
    """Have each shell's completion use the class that its script was made for."""
    for shell in _SHELLS.values():
        add_completion_class(shell)


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
