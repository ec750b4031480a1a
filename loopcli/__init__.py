"""loopcheck: stop a language model's reply when it has become a repetition.

Bytes come in. A *reader* turns them into *events*, *rules* watch the events and state
*verdicts*, a *driver* acts on the verdicts, a *renderer* prints them.

The rooms, from the ground up; a room imports only from those above it in this list,
and ``tests/test_layers.py`` holds every file to that:

``events verdicts actions session_events session_verdicts errors status``
    the nouns
``words wording lenient_json signatures bounds``
    small measures that everybody shares
``identity loop_keys ladder session_setup``
    what the rules for sessions share: when calls are equal, and what follows from that
``readers``
    live bytes to events: ``framings`` (where a document ends), ``dialects`` (what a
    provider's documents mean), ``detection`` (which of both it is)
``sessions``
    agents' sessions, live and recorded, to events: one program or format a file
``recordings``
    files to labelled replies: ``corpus``, and one recorded format a file in ``formats``
``rules``
    events to verdicts: a folder for each rule, and ``table``, which lists them
``detector watch``
    several rules together; a reader and rules together
``conversation session_judge``
    rules for sessions together, with the ladder
``settings``
    what is armed, from flags, environment, file and preset
``monitor``
    the front door for programs
``system``
    descriptors, signals, writing
``filter analyze run guard``
    the drivers; none imports another
``output``
    what people and machines are shown
``commands cli __main__``
    the command line: click, and nothing else

The names below are the public API. They are imported when they are asked for, so that
starting the command costs nothing for those that it does not use.
"""

from __future__ import annotations

# As typing has it, which takes a while to import: a Ctrl-C in the meantime is a traceback.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopcli.analyze.replay import ReplayRow, replay
    from loopcli.detector import Detector, Gauge
    from loopcli.errors import ConfigError, LoopcheckError
    from loopcli.events import Channel, Event, Lane, Text
    from loopcli.monitor import StreamMonitor, TextMonitor, arm
    from loopcli.readers.detection.auto import reader
    from loopcli.recordings.corpus import Transcript, Trouble, transcripts
    from loopcli.rules.base import Armed, Rule
    from loopcli.status import Status
    from loopcli.verdicts import Peak, Verdict
    from loopcli.watch import End, PlacedVerdict, Watch

__version__ = "0.1.0"

__all__ = [
    "Armed",
    "Channel",
    "ConfigError",
    "Detector",
    "End",
    "Event",
    "Gauge",
    "Lane",
    "LoopcheckError",
    "Peak",
    "PlacedVerdict",
    "ReplayRow",
    "Rule",
    "Status",
    "StreamMonitor",
    "Text",
    "TextMonitor",
    "Transcript",
    "Trouble",
    "Verdict",
    "Watch",
    "__version__",
    "arm",
    "reader",
    "replay",
    "transcripts",
]

# Where each name is defined.
_HOMES = {
    "analyze.replay": ("ReplayRow", "replay"),
    "detector": ("Detector", "Gauge"),
    "errors": ("ConfigError", "LoopcheckError"),
    "events": ("Channel", "Event", "Lane", "Text"),
    "monitor": ("StreamMonitor", "TextMonitor", "arm"),
    "readers.detection.auto": ("reader",),
    "recordings.corpus": ("Transcript", "Trouble", "transcripts"),
    "rules.base": ("Armed", "Rule"),
    "status": ("Status",),
    "verdicts": ("Peak", "Verdict"),
    "watch": ("End", "PlacedVerdict", "Watch"),
}


def __getattr__(name: str) -> object:
    """Import a public name the first time that it is asked for."""
    for module, names in _HOMES.items():
        if name in names:
            from importlib import import_module

            value: object = getattr(import_module(f"{__name__}.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
