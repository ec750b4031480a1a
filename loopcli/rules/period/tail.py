"""The periodic ends of a text that arrives in pieces.

The idea. A reply that loops ends in a copy of itself, and its last few dozen
characters stand one period earlier as well. So nothing is kept but the last 12,288
characters or some more, no table and no hash: at fixed places (``probes``) the
last characters are searched for in the text before them, one ``str.rfind``. A hit
is a distance. Slice comparison says how far back the copying goes (``_open``), and
from there on the text is only compared with itself (``_follow``). At most four
distances are followed at once, each as a ``Track``.

The next probe is known, and so is the place at which a stretch will reach its
ceiling if the copying goes on (``Track.due``). Until the first of them, ``wake``, a
stream of single characters costs an append each.

- Everything is decided at absolute positions, in ascending order, from the
  characters before them. So the answer is the same for every chunking.
- A character is compared once per track and probe, and the state is bounded.
- A track that is dropped has been noted (``_note``), so ``peak`` is the stretch
  that came nearest to its ceiling among all that were followed.
- A stretch is judged only once it could reach the lowest ceiling (``_least``): the
  kind of a unit costs more than following it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from loopcli.rules.period.config import NEVER
from loopcli.rules.period.mending import mend, mend_behind
from loopcli.rules.period.probes import COVER, NOTABLE, SHORT, GramProbe, distances, worth_following
from loopcli.rules.period.track import TRIES, Hit, Track, copied_ahead

Judge = Callable[[Track], tuple[str, int]]  # the kind of the unit and its ceiling

# All in characters.
_TRACKS = 4  # distances that are followed at once
_BEFORE = 80  # kept from in front of the first copy
_REGIONS = 32  # stretches beyond their ceiling that are kept: the first, and the last


class Tail:
    """Follows the periodic ends of one text; ``feed`` returns the first ceiling that is reached.

    ``near`` probes often for short distances, ``far`` (on a multiple of its grid) for long ones.
    ``least`` is the lowest ceiling that ``judge`` can give, and ``copies`` the fewest periods in
    one: below both nothing needs to be judged.
    """

    def __init__(
        self, near: GramProbe, far: GramProbe | None, judge: Judge, least: int, copies: int
    ) -> None:
        self.near = near
        self.far = far or GramProbe(NEVER, 0, near.reach)
        self.judge = judge
        self.least = least
        self.copies = copies
        self.keep = 3 * self.far.reach
        self.total = 0
        self.peak: Track | None = None
        self._text = ""
        self._base = 0  # absolute position of the first character kept
        self._next = near.grid
        self._tracks: list[Track] = []
        # The stretches that have reached their ceiling, those still live among them.
        self.regions: list[Track] = []

    @property
    def wake(self) -> int:
        """The next absolute position at which anything can happen."""
        wake = self._next
        for track in self._tracks:
            due = track.due(self._least(track))
            if self.total < due < wake:
                wake = due
        return wake

    def feed(self, text: str) -> Hit | None:
        """Take more text; after a hit ``scan`` goes on."""
        if len(self._text) > self.keep + self.far.reach:
            self._base += len(self._text) - self.keep
            self._text = self._text[-self.keep :]
        self._text += text
        self.total += len(text)
        return self.scan()

    def slice(self, start: int, stop: int) -> str:
        """The characters between two absolute positions, as far as they are kept."""
        return self._text[max(start - self._base, 0) : max(stop - self._base, 0)]

    def repeats(self, part: int) -> bool:
        """Whether the text ends in a stretch that has come to this part of its ceiling.

        One that is broken may yet be taken up, but for those that ``goes_on`` judges.
        """
        for track in self._tracks:
            self._judge(track)
        live = [track for track in self._tracks if track.broken < 0 or not track.tripped]
        return any(track.copied * part >= track.ceiling for track in live)

    def best(self) -> Track | None:
        """The live stretch that is nearest to its ceiling."""
        best: Track | None = None
        for track in self._tracks:
            self._judge(track)
            if best is None or track.copied * best.ceiling > best.copied * track.ceiling:
                best = track
        return best

    def highest(self) -> Track | None:
        """The stretch that came nearest to its ceiling so far."""
        best, peak = self.best(), self.peak
        if best is None or peak is None:
            return best or peak
        return best if best.copied * peak.ceiling > peak.copied * best.ceiling else peak

    def scan(self) -> Hit | None:
        """Go on over the probes up to the end of the text."""
        tracks, grid = self._tracks, self.near.grid
        place = self._next
        while place <= self.total:
            if tracks:
                self._next = place
                if hit := self._advance(place):
                    return hit
            else:
                place = self._next_copy(place)
            if place <= self.total and not (tracks and self._covered(place)):
                self._probe(place)
                if tracks and (hit := self._advance(place)):
                    self._next = place + grid
                    return hit
            place += grid
        self._next = self.total - self.total % grid + grid
        return self._advance(self.total) if tracks else None

    def _next_copy(self, place: int) -> int:
        """Return the first place from ``place`` on at which a probe finds something.

        Behind the end of the text if none does. Most texts spend all their time here.
        """
        text, base, (grid, size, reach) = self._text, self._base, self.near
        far_grid, far_size, far_reach = self.far
        far = -base % far_grid
        rfind, span, far_span = text.rfind, size + reach, far_size + far_reach
        for at in range(place - base, len(text) + 1, grid):
            if rfind(text[at - size : at], at - span if at > span else 0, at - 1) >= 0:
                break
            if at % far_grid == far and (
                rfind(text[at - far_size : at], at - far_span if at > far_span else 0, at - 1) >= 0
            ):
                break
        else:
            return self.total + 1
        return at + base

    def _probe(self, place: int) -> None:
        """Look for what stands before a place in the text before that."""
        text, at = self._text, place - self._base
        for probe in (self.near,) if place % self.far.grid else (self.near, self.far):
            size, low = probe.needle, max(at - probe.needle - probe.reach, 0)
            copy = text.rfind(text[at - size : at], low, at - 1)
            if copy >= 0:
                self._open(place, at - size - copy, probe)

    def _covered(self, place: int) -> bool:
        """Whether a live stretch makes a probe needless; of two that are one now, one is kept."""
        covered, tracks = False, self._tracks
        for track in tracks[:] if len(tracks) > 1 else tracks:
            if track.end == place:
                covered = covered or place - track.clean_from >= COVER
                if any(
                    t.distance == track.distance and t.end == place and t.copied > track.copied
                    for t in tracks
                ):
                    self._note(track)
                    tracks.remove(track)
        return covered

    def _open(self, place: int, dist: int, probe: GramProbe) -> None:
        """Start following the distance of a hit, and the longer ones it may be a part of."""
        text, at = self._text, place - self._base
        if worth_following(text, at, dist):
            floor = max(at - self.keep, 0)
            for longer, start in distances(text, at, dist, probe.needle, self.far.reach, floor):
                self._add(place, longer, start)

    def _add(self, place: int, dist: int, start: int) -> None:
        text, tracks = self._text, self._tracks
        if any(t.distance == dist and t.end == place for t in tracks):
            return
        onset = start - dist  # of the first copy: the unit itself, which nothing copies yet
        before = text[max(onset - _BEFORE, 0) : onset]
        track = Track(dist, onset + self._base, place, text[onset:start], before)
        if dist <= SHORT and track.unit.upper() != track.unit.lower():
            mend_behind(track, text, self._base, max(place - self._base - self.keep, 0))
        if len(tracks) >= _TRACKS:
            weakest = min(tracks, key=lambda t: t.copied)
            self._note(weakest)
            tracks.remove(weakest)
        tracks.append(track)

    def _advance(self, place: int) -> Hit | None:
        """Bring every stretch up to ``place``; the first ceiling that is reached on the way."""
        first: Hit | None = None
        for track in self._tracks:
            reached = self._follow(track, place)
            if reached is not None and (first is None or reached.chars < first.chars):
                first = reached
        self._tracks[:] = [track for track in self._tracks if track.alive]
        return first

    def _follow(self, track: Track, place: int) -> Hit | None:
        """Compare one stretch up to ``place``; where it reached its ceiling on the way."""
        reached, base = None, self._base
        while track.alive:
            if track.broken < 0:  # whole: compare up to the place, or to the first difference
                start = track.end - base
                track.end += copied_ahead(self._text, start, track.distance, place - base)
                reached = reached or self._reached(track)
                if track.end == place:
                    break
                self._note(track)
                track.broken = track.end
                track.alive = track.sound
            elif track.tries == len(TRIES):  # nothing behind the damage continues it
                track.alive = False
            elif (at := track.broken + TRIES[track.tries]) <= place:
                track.tries += 1
                mend(track, self._text, base, at)
            else:
                break
        return reached

    def _reached(self, track: Track) -> Hit | None:
        if track.tripped or track.copied < (track.ceiling or self._least(track)):
            return None
        self._judge(track)
        if track.copied < track.ceiling:
            return None
        track.tripped = True
        if len(self.regions) == _REGIONS:
            self.regions.pop()
        self.regions.append(track)
        chars = max(track.clean_from + track.ceiling - track.credit, track.found_at)
        return Hit(chars, track.period, track)

    def _least(self, track: Track) -> int:
        """The lowest ceiling that the stretch can have."""
        return max(self.least, self.copies * len(track.unit))

    def _judge(self, track: Track) -> None:
        if not track.ceiling:
            track.kind, track.ceiling = self.judge(track)

    def _note(self, track: Track) -> None:
        """Remember the stretch if none has been nearer to its ceiling."""
        peak = self.peak
        if track.copied < self.least // NOTABLE:
            return
        if peak is not None:
            if track.copied * peak.ceiling <= peak.copied * self._least(track):
                return  # not even with the lowest ceiling
            self._judge(track)
            if track.copied * peak.ceiling <= peak.copied * track.ceiling:
                return
        self._judge(track)
        if track.ceiling < NEVER:
            self.peak = Track.restored(track.snapshot())

    def snapshot(self) -> dict[str, Any]:
        """The state as plain JSON."""
        for track in self._tracks:
            self._judge(track)
        return {
            "total": self.total,
            "next": self._next,
            "text": self._text[-self.keep :],
            "peak": None if self.peak is None else self.peak.snapshot(),
            "tracks": [track.snapshot() for track in self._tracks],
            # One that is live is named by its place among the tracks.
            "regions": [
                self._tracks.index(track) if track in self._tracks else track.snapshot()
                for track in self.regions
            ],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from what ``snapshot`` gave."""
        self.total, self._next, self._text = state["total"], state["next"], state["text"]
        self._base = self.total - len(self._text)
        self.peak = None if state["peak"] is None else Track.restored(state["peak"])
        self._tracks = [Track.restored(track) for track in state["tracks"]]
        self.regions = [
            self._tracks[region] if isinstance(region, int) else Track.restored(region)
            for region in state["regions"]
        ]
