"""loopcheck: stop a language model's reply when it has become a repetition.

Bytes come in, a reader turns them into events, rules watch the events and
state verdicts, a driver acts on the verdicts, a renderer tells.
"""

__version__ = "0.1.0"
