"""JUnit XML for continuous integration: a case for each transcript."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from loopcli.analyze.gates import Failure
from loopcli.analyze.replay import ReplayRow
from loopcli.output.escape import xml


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
    body = "\n".join(xml(str(failure)) for failure in failures)
    return (
        f"{head}>\n<failure type={_attribute(gates)} message={_attribute(message)}>"
        f"{body}</failure>\n</testcase>\n"
    )


def _error(number: int, message: str) -> str:
    head = f'<testcase classname="loopcheck" name="trouble {number}">'
    return f'{head}\n<error type="trouble" message={_attribute(message)}/>\n</testcase>\n'


def _attribute(text: str) -> str:
    return f'"{xml(text)}"'
