"""What holds for every test: nothing here may depend on how fast or how loaded the machine is."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# A time limit on an example, or on its generation, says more about the machine than the code.
settings.register_profile("loopcheck", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("loopcheck")


def _stay(_number: int, _frame: object) -> None:
    """Do nothing, as the ignored signal did."""


# Whoever runs the tests may ignore these (nohup, a job in the background), and what is ignored
# stays so in every child. A handler is put back to the default there, and tests that send a
# signal to a child see it arrive.
for _number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _stay)


@pytest.fixture(scope="session", autouse=True)
def _without_settings() -> Iterator[None]:
    """Hide what this machine sets for loopcheck: it would warn of LOOPCHECK_DATA, which is ours.

    tests/real has read that variable by then.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("LOOPCHECK_")]:
            patch.delenv(name)
        yield
