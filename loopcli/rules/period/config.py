"""The knobs of the period rule: how much copying is too much.

A figure follows from the longest repetition that people ask for and the
shortest loop that is to be detected, and was then measured on 606 clean replies
and on "other text": 43,621 files of source, documentation and data, 378 million
characters. Of those files the period rule trips on five: three generated JSON
files that hold the same list of 2 to 3 KB three times in a row, and two files
of test data made by repetition. Stretches shorter than 213 characters, a third of
the lowest ceiling, were not looked at.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

NAME = "period"
NEVER = 1 << 60
# Units up to this long are looked for; memory is some ten times as much.
REACH = 4096

# From 160 characters on, four copied periods are asked for, as far as a unit of
# 667 can still be detected within 2,000 characters: three equal cards or verses in
# a row are written on purpose.
_LETTERS_COPIES = 4
_LETTERS_WITHIN = 1900
# A drawing has at most as many equal rows as a page or a board has, 100, and a
# status table hardly more, however wide they are.
_ROWS = 150
# Equal turns with a counter, between the marks of a chat template, which no
# reply should hold.
_DIALOGUE = 1200
# Numbered items are alike by nature; eight of them are a list.
_COUNTER_COPIES = 8
# However long a unit is whose digits change, so often has it to be copied.
COUNTED_COPIES = min(_LETTERS_COPIES, _COUNTER_COPIES)


class UnitKind(StrEnum):
    """Kinds of unit, from the one that is never written on purpose to the one that often is."""

    LETTERS = "letters"  # words of any script, code, markup with text
    SIGNS = "signs"  # one line without letters: runs, blanks, dividers, emoji, one long number
    ART = "art"  # several lines without words: drawings, grids of signs, rows of dividers
    TABLE = "table"  # rows of a Markdown, CSV or HTML table
    DATA = "data"  # numbers and what separates them, escapes, code points, null and true
    DIALOGUE = "dialogue"  # equal but for digits, with the marks of a chat template
    COUNTER = "counter"  # equal but for digits, in running text
    RECORD = "record"  # equal but for digits, in data or code: no limit


COUNTED = frozenset({UnitKind.DIALOGUE, UnitKind.COUNTER})


class PeriodConfig(NamedTuple):
    """The knobs of the period rule: copied characters, the first copy not counted."""

    # A stutter of 50 words of 12 characters, 600, is to stay quiet. Highest in
    # 606 clean replies 268; in other text 536 (six equal stack frames). Of 54,860
    # clean replies 3 have even 200 with three copies, and those had got stuck.
    period_letters: int = 640
    # Dividers are 40-120 wide and cells are padded to some 200; 100 emoji of seven
    # code points are 700; up to 400 blanks stand between the tokens of JSON.
    period_signs: int = 1200
    # And 150 rows if they are wider than 16. Highest: 559 of 3,300 (a tower) in
    # clean replies, 1,334 of 11,850 in other text.
    period_art: int = 2400
    # Status tables have equal rows too, but number them. 120 equal rows of 80
    # characters are 9,600. Highest in other text: 657.
    period_table: int = 12_000
    # A grid of 100 x 100 zeros is 30,300. Highest in other text: 18,975 (the
    # tables of a generated parser).
    period_data: int = 40_000
    # One hundred numbered lines of 40 characters are asked for often. Highest:
    # 1,523 in clean replies (numbers tried one by one), 1,442 in other text.
    period_counter: int = 4000
    # A unit of 3.5 KB is to be detected within three periods. In clean replies no
    # unit over 249 characters is copied even once in full. The thinnest margin of
    # all: other text holds one certificate of 975 characters three times in a
    # row, 1,947 of 1,950.
    period_copies: int = 2

    @property
    def lowest(self) -> int:
        """The lowest ceiling of an exactly repeated unit: below it nothing needs a kind."""
        alike = min(self.period_art, self.period_table, self.period_data)
        return min(self.period_letters, self.period_signs, alike)

    @property
    def lowest_counted(self) -> int:
        """The lowest ceiling of a unit whose digits change."""
        return min(_DIALOGUE, self.period_counter)

    @property
    def judged_from(self) -> tuple[int, ...]:
        """What decides from when on a stretch needs a kind: equal figures, equal questions."""
        return self.lowest, self.lowest_counted, self.period_copies

    def ceiling(self, kind: UnitKind, period: int) -> int:
        """Return the copied characters at which a unit of this kind and length is a loop.

        >>> config = PeriodConfig()
        >>> [config.ceiling(UnitKind.LETTERS, period) for period in (1, 90, 300, 600, 3500)]
        [640, 640, 1200, 1300, 7000]
        """
        copied = self.period_copies * period
        match kind:
            case UnitKind.LETTERS:
                several = min(_LETTERS_COPIES * period, _LETTERS_WITHIN - period)
                return max(self.period_letters, several, copied)
            case UnitKind.SIGNS:
                return max(self.period_signs, copied)
            case UnitKind.ART | UnitKind.TABLE:
                least = self.period_art if kind is UnitKind.ART else self.period_table
                return max(min(max(least, _ROWS * period), max(self.period_data, least)), copied)
            case UnitKind.DATA:
                return max(self.period_data, copied)
            case UnitKind.DIALOGUE:
                return max(_DIALOGUE, _LETTERS_COPIES * period)
            case UnitKind.COUNTER:
                return max(self.period_counter, _COUNTER_COPIES * period)
        return NEVER
