"""The order of a command's help: what a newcomer needs first, the knobs of the rules last."""

from __future__ import annotations

from collections.abc import Iterator

import click

from loopcli.rules import table
from loopcli.rules.registration import Judged

_WATCHED, _DONE, _OUTPUT, _LIMITS = "What is watched", "What is done", "Output", "Limits"
_OTHER, _SESSIONS = "Other options", "Sessions of agents"
_KNOBS, _SESSION_KNOBS = "Knobs of the {} rule", "Knobs of the {} rule for sessions"
# The groups in their order, with the parameters of all commands that belong to each. Knobs
# are grouped by their rules; whatever has no place here comes before them.
_GROUPS = {
    _WATCHED: "input_ rules preset watch config agent files0_from text_field labels_",
    _DONE: "hold dry_run trim trip_event strict stream agent_stream retries retry_on "
    "backoff_base backoff_max retry_after_max "
    "trace sweep suggest headroom check max_peak baseline update_baseline sum by",
    _OUTPUT: "emit report json_ progress quiet verbose color format_ top junit output",
    _LIMITS: "idle_timeout timeout kill_after jobs",
    "Records": "journal session model turn price generation_url api_key_env",
    _OTHER: "",
    _SESSIONS: "state results loop_key action escalation_model escalation_advisor",
}


def _headings() -> Iterator[tuple[str, str]]:
    """Yield the name of each parameter that has a group, and the group."""
    for heading, names in _GROUPS.items():
        for name in names.split():
            yield name, heading
    for entry, knob in table.knobs():
        session = entry.judges is Judged.SESSION
        yield knob.name, (_SESSION_KNOBS if session else _KNOBS).format(entry.name)


class GroupedCommand(click.Command):
    """A command whose help has a section for each group of options."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections, in the order of the groups: knobs of replies, then sessions."""
        by_name = dict(_headings())
        *first, sessions = _GROUPS
        knobs = [heading for heading in by_name.values() if heading not in _GROUPS]
        texts = [heading for heading in knobs if not heading.endswith("sessions")]
        order = dict.fromkeys([*first, *texts, sessions, *knobs])
        sections: dict[str, list[tuple[str, str]]] = {heading: [] for heading in order}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is not None:
                sections[by_name.get(param.name or "", _OTHER)].append(record)
        for heading, records in sections.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)
