"""JUnit XML for continuous integration: a case for each transcript."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape, quoteattr

from loopcli.analyze.gates import Failure
from loopcli.analyze.replay import ReplayRow
from loopcli.wording import spelled

# What XML 1.0 cannot hold, not even as a reference.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(rows: Iterable[ReplayRow], failures: Sequence[Failure], errors: Sequence[str]) -> bytes:
    """Return the document. A reply that failed a gate is a failure.

    ``errors`` are the other reasons for a status that is not 0, such as a file that could not
    be read, or a gate with nothing to judge.
    """
    failed: dict[str, list[Failure]] = defaultdict(list)
    for failure in failures:
        failed[failure.id].append(failure)
    ids = dict.fromkeys(row.id for row in rows)
    # A failure of no transcript, such as a baseline made with other knobs, is a case of its own.
    names = [*ids, *(name for name in failed if name not in ids)]
    cases = [_case(name, failed[name]) for name in names]
    cases += [_error(at, message) for at, message in enumerate(errors, 1)]
    counts = f'tests="{len(cases)}" failures="{sum(map(bool, failed.values()))}"'
    counts += f' errors="{len(errors)}"'
    text = '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n'
    text += f'<testsuite name="loopcheck analyze" {counts}>\n'
    text += "".join(cases) + "</testsuite>\n</testsuites>\n"
    return text.encode("utf-8")


def _case(name: str, failures: Sequence[Failure]) -> str:
    head = f'<testcase classname="loopcheck" name={_attribute(name)}'
    if not failures:
        return head + "/>\n"
    # One element at most: readers of this format count them as cases.
    gates = " ".join(dict.fromkeys(failure.gate for failure in failures))
    message = "; ".join(failure.message for failure in failures)
    body = escape(_legal("\n".join(map(str, failures))))
    return (
        f"{head}>\n<failure type={_attribute(gates)} message={_attribute(message)}>"
        f"{body}</failure>\n</testcase>\n"
    )


def _error(number: int, message: str) -> str:
    head = f'<testcase classname="loopcheck" name="trouble {number}">'
    return f'{head}\n<error type="trouble" message={_attribute(message)}/>\n</testcase>\n'


def _attribute(text: str) -> str:
    return quoteattr(_legal(text))


def _legal(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", spelled(text))
