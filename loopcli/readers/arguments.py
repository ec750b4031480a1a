r"""Tool arguments as words: JSON, unescaped as it arrives.

A model writes its arguments as JSON, and a loop inside a string of them is a loop of
the *unescaped* text. Rules of this file:

- Keys and syntax are skipped. A newline follows each string, number or literal, so
  that it ends a word and a line.
- Usual deviations of models and servers are accepted: a raw newline in a string, an
  unknown escape, a second document after the first.
- Text that does not begin with ``{``, ``[`` or ``"`` is not JSON and is judged
  unchanged. So is the rest from the first character that JSON forbids at its place,
  and from the first that is nested too deep.
- Three kinds of syntax are a loop when there is too much of it, and are judged beyond a
  limit: blanks between values, the characters of one key, and keys and brackets
  without any value.
- A key that its object has already is no JSON that a program reads, and may be the only
  thing that repeats (``"node": {}, "node": {}``): the rest is judged unchanged.

The scanner is a state machine. Each step depends on one character and a bounded
state, so the fragments may be cut anywhere. A surrogate pair in two escapes yields
two halves; the collector joins them, across fragments, too.
"""

from __future__ import annotations

import re

_MAX_DEPTH = 256
_MAX_BLANKS = 64
_MAX_KEY = 256
_MAX_SYNTAX = 1024  # a form of a hundred fields, all left empty
_MAX_KEYS = 512  # remembered, of all objects that are open

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", '"': '"'}
_BLANK = " \t\r\n"
_PLAIN_STRING = re.compile(r'[^"\\]+')
_LITERAL = re.compile(r'[^\s{}\[\],:"]+')
_BLANKS = re.compile(r"[ \t\r\n]+")
_HEX = re.compile("[0-9a-fA-F]")

# What may come next.
_VALUE, _KEY, _COLON, _AFTER, _STRING, _WORD, _RAW = range(7)


class Unescaper:
    r"""Turns fragments of JSON into the words that the model wrote in them.

    >>> unescaper = Unescaper()
    >>> unescaper.feed('{"cmd": "a\\u00e'), unescaper.feed('9 b", "n"'), unescaper.feed(': 2}')
    ('a', 'é b\n', '2\n')
    """

    __slots__ = (
        *("_blanks", "_escape", "_in_key", "_key", "_key_size", "_keys", "_remembered"),
        *("_stack", "_state", "_syntax_size"),
    )

    def __init__(self) -> None:
        self._state = _VALUE
        self._stack: list[str] = []
        self._escape = ""  # an escape that has begun, with its backslash
        self._in_key = False
        self._key: list[str] = []  # what has come of the key that is read, if it is not too long
        self._key_size = 0
        self._keys: list[set[int]] = []  # the hashes of the keys of each object that is open
        self._remembered = 0
        self._blanks = 0
        self._syntax_size = 0  # since the last value

    @property
    def complete(self) -> bool:
        """Whether all that has come is whole JSON."""
        return self._state == _AFTER and not self._stack

    def feed(self, fragment: str) -> str:
        """Return the words that ``fragment`` adds."""
        if self._state == _RAW:
            return fragment
        out: list[str] = []
        at = 0
        while at < len(fragment):
            if self._state == _RAW:
                out.append(fragment[at:])
                break
            step = self._string if self._state == _STRING else self._syntax
            at = step(fragment, at, out)
        return "".join(out)

    def _string(self, fragment: str, at: int, out: list[str]) -> int:
        if self._escape:
            self._escaped(fragment[at], out)
            return at + 1
        plain = _PLAIN_STRING.match(fragment, at)
        if plain:
            self._add(plain[0], out)
            return plain.end()
        if fragment[at] == "\\":
            self._escape = "\\"
        elif self._in_key:
            self._state = _RAW if self._is_known_key() else _COLON
        else:
            self._end_value(out)
        return at + 1

    def _is_known_key(self) -> bool:
        """Return whether the object has this key already, and remember it."""
        key, self._key = hash("".join(self._key)), []
        self._syntax_size += self._key_size
        if self._key_size > _MAX_KEY:
            return False
        keys = self._keys[-1]
        if key in keys:
            return True
        if self._remembered < _MAX_KEYS:
            keys.add(key)
            self._remembered += 1
        return False

    def _escaped(self, char: str, out: list[str]) -> None:
        escape, self._escape = self._escape, ""
        if escape == "\\":
            if char == "u":
                self._escape = "\\u"
            else:
                self._add(_ESCAPES.get(char, escape + char), out)
        elif not _HEX.match(char):
            # Not an escape: its characters stand for themselves, and so does this one.
            self._add(escape, out)
            if char == "\\":
                self._escape = char
            elif char == '"':
                self._string(char, 0, out)
            else:
                self._add(char, out)
        elif len(escape) < 5:
            self._escape = escape + char
        else:
            self._add(chr(int(escape[2:] + char, 16)), out)

    def _add(self, text: str, out: list[str]) -> None:
        if self._in_key:
            if self._key_size <= _MAX_KEY:
                self._key.append(text[:_MAX_KEY])
            over = self._key_size + len(text) - _MAX_KEY
            self._key_size += len(text)
            text = text[-over:] if 0 < over < len(text) else text if over > 0 else ""
        if text:
            out.append(text)

    def _end_value(self, out: list[str]) -> None:
        out.append("\n")
        self._state = _AFTER
        self._syntax_size = 0

    def _syntax(self, fragment: str, at: int, out: list[str]) -> int:
        if self._state == _WORD:
            literal = _LITERAL.match(fragment, at)
            if literal:
                out.append(literal[0])
                return literal.end()
            self._end_value(out)
        blanks = _BLANKS.match(fragment, at)
        if blanks:
            over = min(self._blanks + len(blanks[0]) - _MAX_BLANKS, len(blanks[0]))
            self._blanks += len(blanks[0])
            if over > 0:
                out.append(blanks[0][-over:])
            return blanks.end()
        self._blanks = 0
        char = fragment[at]
        if not self._punctuation(char):
            # Not JSON: the rest is judged unchanged, from this character on.
            self._state = _RAW
            return at
        if self._state == _WORD:
            return at
        self._syntax_size += 1
        if self._syntax_size > _MAX_SYNTAX and self._state != _STRING:
            self._state = _RAW
        return at + 1

    def _punctuation(self, char: str) -> bool:
        """Read a character outside a string; return whether JSON allows it here."""
        state, stack = self._state, self._stack
        if char == '"' and state in (_VALUE, _KEY):
            self._state = _STRING
            self._in_key, self._key_size, self._key = state == _KEY, 0, []
        elif char in "{[" and (state == _VALUE or (state == _AFTER and not stack)):
            if len(stack) >= _MAX_DEPTH:
                return False
            stack.append(char)
            self._state = _KEY if char == "{" else _VALUE
            if char == "{":
                self._keys.append(set())
        elif char in "}]" and stack and state != _COLON:
            if stack.pop() != {"}": "{", "]": "["}[char]:
                return False
            self._state = _AFTER
            if char == "}":
                self._remembered -= len(self._keys.pop())
        elif char == "," and state == _AFTER and stack:
            self._state = _KEY if stack[-1] == "{" else _VALUE
        elif char == ":" and state == _COLON:
            self._state = _VALUE
        elif state == _VALUE and stack and char not in ",:":
            self._state = _WORD
        else:
            return False
        return True
