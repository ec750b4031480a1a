"""Texts that must stay quiet under every rule, and endless ones that must not.

Made of the wording of the shapes in fixtures/.
"""

from __future__ import annotations

import base64
import random

from fixtures.shapes import code_block, grid, json_array, prose, table
from fixtures.texts import tilemap

RNG = random.Random(7)
PROSE = prose(RNG, 80)


def csv(rows: int) -> str:
    fields = ("open", "shut", "late")
    return "day,gate,state,price\n" + "".join(
        f"2031-{n % 12 + 1:02}-{n % 28 + 1:02},gate {n % 7},{fields[n % 3]},{n * 7 % 90}.50\n"
        for n in range(rows)
    )


QUIET = {
    "nothing": "",
    "prose": prose(RNG, 3000),
    "code": code_block(900),
    "tilemap 1504": tilemap(47, 32),
    "tilemap 55x55": tilemap(55, 55),
    "tilemap 64x64": tilemap(64, 64),
    "zeros 64x64": grid(64, 64) + code_block(40),
    "zeros 100x100": grid(100, 100) + code_block(90),
    "zeros 100x100, bare": ("0 " * 100 + "\n") * 100 + code_block(90),
    "zeros 100x100, no blanks": ("0" * 100 + "\n") * 100 + code_block(90),
    "zeros 100x100, one line": "[" + "0, " * 10_000 + "]\n" + code_block(90),
    "letters 64x64": ("G G W W " * 16 + "\n") * 64 + PROSE,
    "board of letters": ("G" * 40 + "W" * 24 + "\n") * 64 + PROSE,
    "base64, noise": base64.encodebytes(RNG.randbytes(40_000)).decode(),
    "base64, zeros": base64.b64encode(
        RNG.randbytes(999) + bytes(6000) + RNG.randbytes(99)
    ).decode(),
    "base64, zeros in lines": base64.encodebytes(RNG.randbytes(570) + bytes(6000)).decode(),
    "base64, a pattern": base64.b64encode(RNG.randbytes(999) + b"$\0" * 2000).decode(),
    "hex bytes": "{" + "0x00, " * 2048 + "};\n" + PROSE,
    "escapes": 'b"' + "\\x00" * 2048 + '"\n' + PROSE,
    "code points": "".join(f"U+{n:04X}\n" for n in range(0x2500, 0x2F00)),
    "nulls": "[" + "null, " * 1500 + "null]\n",
    "constants": "[" + "State.ERROR, " * 900 + "]\n",
    "table of 1,000 rows": table(RNG, 1000),
    "table, one state": "".join(f"| {n} | shelf {n} | in order | 0 |\n" for n in range(1000)),
    "table, no numbers": "| open | shut | open |\n" * 120,
    "wide padded table": "".join(f"| {n:<200} | {n * n:<150} |\n" for n in range(100)),
    "html cells": "<tr><td></td><td></td><td></td></tr>\n" * 120,
    "empty elements": '<div class="square"></div>\n' * 64 + "<Row />\n" * 100 + PROSE,
    "yaml, counted": "".join(f"- id: {n}\n  name: shelf {n}\n  lit: 0\n" for n in range(900)),
    "dialogues, counted": "".join(f"User: And {n}?\nAssistant: {n + 1}.\n" for n in range(60)),
    "csv": csv(3000),
    "json array": json_array(RNG, 1000),
    "json array, counted": "".join(f'{{"id": {n}, "name": "shelf"}},\n' for n in range(3000)),
    "code, counted": "".join(f"shelf[{n}] = fit({n});\n" for n in range(3000)),
    "assembler": "".join(f"    mov r{n % 8}, [sp + {n * 4}]\n" for n in range(2000)),
    "list to 100": "".join(f"{n}. Shelf {n} is to be mended.\n" for n in range(1, 101)),
    "dividers": "".join(PROSE + "\n" + mark * 120 + "\n" for mark in "-=*_~#─═+."),
    "dot leaders": "".join(f"{w:.<70} {n}\n" for n, w in enumerate(PROSE.split() * 4)),
    "box": "+" + "-" * 78 + "+\n" + ("|" + " " * 78 + "|\n") * 60 + PROSE,
    "skyline": "".join("| []  []  [] |\n" for _ in range(100)) + PROSE,
    "tablature": "".join(f"{s}|" + "-" * 60 + "|\n" for s in "eBGDAE" * 24) + PROSE,
    "forty emoji": "\U0001f9f1" * 40 + PROSE,
    "trailing blanks": PROSE + " " * 400 + PROSE + "\n" * 400 + PROSE,
    "recurring decimal": "1/7 = 0." + "142857" * 100 + PROSE,
    "same paragraph thrice": PROSE * 3 + prose(RNG, 60),
    "six lines of a chorus": "And the gate is open, and the lantern is lit,\n" * 6 + PROSE,
    "ordinary sum": " + ".join(["1"] * 300) + " = 300" + PROSE,
}

YES = {
    "a word a line": (code_block(60), "The\n", 2000),
    "a call": ("", "a();", 2000),
    "a Chinese sentence": ("", "请把门关好再走一次。", 2000),
    "blanks": ("", " ", 2000),
    "code block of 3.5 KB": (PROSE, code_block(85), 12),
    "inside an open fence": ("Here:\n```js\n", "void 0;\n", 2000),
    "a divider a line": ("", "---\n", 4000),
    "empty lines": ("", "\n", 4000),
}
