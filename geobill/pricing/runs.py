"""Elementary intervals along lines, and runs of neighbouring ones for which something equally holds."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geobill.pricing.edges import Edges, Floats, Ints

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Intervals:
    """Elementary intervals of straight edges, in drawing order; nothing changes within one."""

    edge: Ints
    part: Ints
    start: Floats  # metres along the straight edge
    end: Floats

    @property
    def length(self) -> Floats:
        """Length of each interval in metres."""
        return self.end - self.start


class Runs:
    """Runs of neighbouring intervals of one part for which something equally holds."""

    def __init__(self, intervals: Intervals, holds: Bools):
        new = np.ones(len(holds), dtype=bool)
        new[1:] = (holds[1:] != holds[:-1]) | (intervals.part[1:] != intervals.part[:-1])
        self.number = np.cumsum(new) - 1
        self.starts = np.flatnonzero(new)
        self.ends = np.append(self.starts[1:], len(holds)) - 1
        self.length = (
            np.bincount(self.number, weights=intervals.length)[self.number] if len(holds) else intervals.length
        )

    def sum(self, what: Floats) -> Floats:
        """Sum of something over the interval's run."""
        return np.bincount(self.number, weights=what)[self.number] if len(what) else what

    def any(self, what: Bools) -> Bools:
        """Whether something holds anywhere in the interval's run."""
        return self.sum(what.astype(float)) > 0

    def all(self, what: Bools) -> Bools:
        """Whether something holds everywhere in the interval's run."""
        return ~self.any(~what)


def overhangs(intervals: Intervals, run: Runs, edges: Edges, short_m: float) -> Bools:
    """Short ends of runs that lie on another straight edge than the rest and leave the run within that edge.

    A line that follows a border and then turns off stays near it for a few centimetres more; with a ruler
    the border ends at the corner, and so it does here.
    """
    first, last = intervals.edge[run.starts], intervals.edge[run.ends]
    lengths = edges.lengths
    entered, left = intervals.start[run.starts], intervals.end[run.ends]
    head = (first != last) & (entered > 1e-6) & (lengths[first] - entered < short_m)
    tail = (first != last) & (left < lengths[last] - 1e-6) & (left < short_m)
    n = run.number
    return (head[n] & (intervals.edge == first[n])) | (tail[n] & (intervals.edge == last[n]))


def part_lengths(intervals: Intervals) -> Floats:
    """Length of each part, by its number."""
    return np.bincount(intervals.part, weights=intervals.length)
