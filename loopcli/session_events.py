"""What an agent's session consists of, beside the words that the model writes.

A session is many replies of one model, with the results of its tool calls and
the words of its user between them. Its reader yields two streams as one:

- the model's words (content, reasoning, tool arguments) as ``events.Text``, as
  they arrive, in lanes that name the agent; arguments that come whole are in
  their ``SessionCall`` only;
- the events of this module, in the order of the session.

A round is one reply of one agent. Its words and its calls come first, in any
order, then its ``RoundEnd``, and only then the results of those calls. An
agent is the main one (the empty name) or a subagent, by whatever id its program
gives it; rounds of several agents may interleave, and each agent is judged by
itself.

``line`` is the number, from 1, of the line or record that an event stands on.
``byte`` is the number of bytes of the input that tell of it: up to the end of
that record, or of a later one where only a later one shows that a round has
ended.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple


class CallKind(StrEnum):
    """Who carried out a tool call, as far as the program says so."""

    CLIENT = "client"  # the agent, or it failed to: unknown arguments, a failing tool
    SERVER = "server"  # the model's provider: a web search
    MANUAL = "manual"  # the caller's own code, outside the agent's loop
    DENIED = "denied"  # nobody: a person or a policy refused it


class SessionStart(NamedTuple):
    """Another session begins: nothing before it counts any more.

    An input that holds one session needs none.
    """

    session: str
    line: int
    byte: int


class SessionOptions(NamedTuple):
    """What the input itself asks of the rules: their options, and its tools' loop keys.

    ``options`` is the document's ``doomLoop`` object, ``loop_keys`` maps the
    name of each declared tool to its ``loopKey``, or to ``None`` if it has none.
    """

    options: Mapping[str, Any]
    loop_keys: Mapping[str, Any]
    line: int
    byte: int


class SessionCall(NamedTuple):
    """The model asked for a tool.

    ``arguments`` is the JSON text as the model wrote it, which need not be
    JSON. For a call of kind ``SERVER`` the name is the type of the output item
    and ``arguments`` the item as JSON text, where the format has such items.
    ``spoken`` says that the words of the arguments have come as text events
    before; those of other calls are in ``arguments`` only.
    """

    agent: str
    name: str
    arguments: str
    id: str
    kind: CallKind
    line: int
    byte: int
    spoken: bool = False


class RoundEnd(NamedTuple):
    """A reply of an agent is complete, and so is the set of its calls."""

    agent: str
    line: int
    byte: int


class RoundRestart(NamedTuple):
    """The reply in progress was given up, and the program asks for it again.

    What the agent has written since its last ``RoundEnd`` does not count.
    """

    agent: str
    line: int
    byte: int


class SessionResult(NamedTuple):
    """What a call came to. ``denied`` says that the call was refused and never ran."""

    agent: str
    call_id: str
    text: str
    is_error: bool
    line: int
    byte: int
    denied: bool = False


class UserMessage(NamedTuple):
    """The user wrote, or whoever runs the agent did in the user's name."""

    agent: str
    text: str
    line: int
    byte: int


SessionEvent = (
    SessionStart
    | SessionOptions
    | SessionCall
    | RoundEnd
    | RoundRestart
    | SessionResult
    | UserMessage
)
