"""A command in a process group of its own: reads its output and ends it for certain.

Rules of this file:

- The command has ended when the process that was started has ended *and* its
  standard output is closed. A process that it left behind may hold the pipe open:
  then ``kill_after`` seconds of silence end the reading.
- ``end`` ends the whole process group: SIGTERM, ``kill_after`` seconds, SIGKILL.
  A process that moved to another group (``setsid``) is out of reach.
- An agent that has not ended by itself is ended with everything it has started, other
  groups included: first SIGINT to its group, on which agents save their session.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress

from loopcli.system.limits import Limits, poll_time
from loopcli.system.output import ReaderGoneError
from loopcli.system.processes import adopt_orphans, descendants, signal_all
from loopcli.system.signals import Signals
from loopcli.system.stdio import READ_SIZE, reader_gone, watch_reader

# In seconds: how often to check whether a signalled group has ended. The system
# does not report that.
_CHECK_EVERY = 0.02
# A killed process ends at once, unless the kernel is stuck in it, or the process
# that inherits orphans never reaps them.
_KILLED_SECONDS = 2.0
# What an agent is given after SIGINT: those that heed it end within a second.
_INTERRUPTED_SECONDS = 3.0


class Child:
    """A running command.

    ``stdin`` is a descriptor, read from its current offset. ``agent`` says that what
    it starts is to be ended with it, too. Raises ``OSError`` if the command cannot be
    started.
    """

    def __init__(
        self,
        command: Sequence[str],
        stdin: int,
        signals: Signals,
        *,
        kill_after: float,
        agent: bool = False,
    ) -> None:
        self._signals = signals
        self._kill_after = kill_after
        self._agent = agent
        if agent:
            adopt_orphans()
        self._process = subprocess.Popen(
            command, stdin=stdin, stdout=subprocess.PIPE, bufsize=0, process_group=0
        )
        assert self._process.stdout is not None
        self._stdout = self._process.stdout
        # Whether a process that the command started held its output open.
        self.left_open = False

    @property
    def status(self) -> int:
        """The exit status, 128 + n after signal n; only once the command has ended."""
        code = self._process.returncode
        return 128 - code if code < 0 else code

    def output(self, limits: Limits, peer: int) -> Iterator[bytes]:
        """Yield what the command prints, until it has ended.

        Raises ``TimeLimitError``, ``SignalledError``, and ``ReaderGoneError``
        when the reader of the descriptor ``peer`` has gone.
        """
        fd = self._stdout.fileno()
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        poll.register(self._signals.fd, select.POLLIN)
        watch_reader(poll, peer)
        is_open, silent_until = True, float("inf")
        while is_open or not self._ended():
            wait = limits.wait()
            if self._ended():
                now = time.monotonic()
                silent_until = min(silent_until, now + self._kill_after)
                left = poll_time(silent_until - now)
                wait = left if wait is None else min(wait, left)
            ready = dict(poll.poll(wait))
            if self._signals.fd in ready:
                self._signals.drain()
            self._signals.check()
            if reader_gone(ready, peer):
                raise ReaderGoneError
            if fd in ready:
                data = os.read(fd, READ_SIZE)
                if data:
                    silent_until = float("inf")
                    yield data
                else:
                    poll.unregister(fd)
                    is_open = False
            elif time.monotonic() >= silent_until:
                self.left_open = True
                return
            limits.check()

    def _ended(self) -> bool:
        return self._process.poll() is not None

    def end(self) -> None:
        """End every process of the group; a signal to us shortens the wait."""
        group = self._process.pid
        if self._agent and not self._ended():
            self._end_agent(group)
        self._stdout.close()
        if _signal(group, signal.SIGTERM):
            # A stopped process would not receive it.
            _signal(group, signal.SIGCONT)
            if not self._gone(group, self._kill_after, patient=False):
                _signal(group, signal.SIGKILL)
                self._gone(group, _KILLED_SECONDS, patient=True)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_KILLED_SECONDS)

    def _end_agent(self, group: int) -> None:
        """End an agent and all that it has started, wherever that has gone."""
        started = set(descendants(os.getpid()))  # before anything of it changes its parent
        # Its pipe is closed only now: an agent that saw that first may start over.
        _signal(group, signal.SIGINT)
        _signal(group, signal.SIGCONT)
        self._gone(group, min(_INTERRUPTED_SECONDS, self._kill_after), patient=False)
        self._stdout.close()
        for number, seconds in (
            (signal.SIGTERM, self._kill_after),
            (signal.SIGKILL, _KILLED_SECONDS),
        ):
            started.update(descendants(os.getpid()))
            _signal(group, number)
            signal_all(started, number)
            signal_all(started, signal.SIGCONT)
            self._all_gone(seconds, patient=number == signal.SIGKILL)

    def _all_gone(self, seconds: float, *, patient: bool) -> None:
        """Wait until this process has no living descendant."""
        until = time.monotonic() + seconds
        while descendants(os.getpid()) and time.monotonic() < until:
            if self._signals.pending and not patient:
                return
            self._ended()
            time.sleep(_CHECK_EVERY)

    def _gone(self, group: int, seconds: float, *, patient: bool) -> bool:
        """Wait until the group is empty; return early on a signal, unless ``patient``."""
        until = time.monotonic() + seconds
        pause = 0.001
        while True:
            self._ended()  # reaps: a zombie is still a member of its group
            if not _signal(group, 0) or _only_zombies(group):
                return True
            if time.monotonic() >= until or (self._signals.pending and not patient):
                return False
            time.sleep(pause)
            pause = min(2 * pause, _CHECK_EVERY)


def _only_zombies(group: int) -> bool:
    """Return whether every process that is left in a group is dead but not reaped.

    In many containers orphans are never reaped. ``False`` on systems without /proc.
    """
    zombies = False
    try:
        for name in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError, ValueError):
                with open(f"/proc/{name}/stat", "rb") as file:
                    # A command's name may hold anything, brackets too.
                    state, _, member = file.read().rpartition(b")")[2].split()[:3]
                if int(member) == group:
                    if state not in b"ZX":
                        return False
                    zombies = True
    except OSError:
        return False
    return zombies


def _signal(group: int, number: int) -> bool:
    """Send a signal to a process group; return whether there is one."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except PermissionError:  # it belongs to another user (setuid), so it cannot be ended
        return False
    return True
