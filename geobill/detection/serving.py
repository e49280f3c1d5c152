"""Which permitted metre serves which surveyed one.

Each serves one, the nearest first, and nobody is left over whom another arrangement would serve.
"""

from dataclasses import dataclass

import numpy as np

from geobill.detection.beside import Pieces
from geobill.detection.chains import Chains
from geobill.detection.intervals import Floats, Ints, contested, outside, overlapping, united

_ROUNDS = 256  # a round for each cable in one place that is as near as the next
_MOVES, _LONGEST_PATH = 24, 6
_WORTH_MOVING_M = 1.0
_LEAST_M = 1e-3  # what is shorter is rounding


@dataclass(frozen=True)
class Claims:
    """Stretches of pieces on the surveyed scale: which piece, from where to where."""

    piece: Ints
    start: Floats
    end: Floats

    def only(self, where: np.ndarray) -> "Claims":
        """Keep some of them."""
        return Claims(self.piece[where], self.start[where], self.end[where])

    def long(self) -> "Claims":
        """Keep what is more than rounding."""
        return self.only(self.end - self.start > _LEAST_M)

    def and_also(self, other: "Claims") -> "Claims":
        """Both."""
        return Claims(np.r_[self.piece, other.piece], np.r_[self.start, other.start], np.r_[self.end, other.end])

    def in_order(self) -> "Claims":
        """By their place on the surveyed scale."""
        return self.only(np.argsort(self.start, kind="stable"))


@dataclass(frozen=True)
class Served:
    """What is served, and what isn't.

    ``held`` are stretches that are served, disjoint on both scales, in order of the surveyed one; ``lost`` are disjoint
    intervals (start, end) of the surveyed scale that have a permitted line beside them and are served by none.
    """

    held: Pieces
    lost: tuple[Floats, Floats]


def share_out(pieces: Pieces, mine: Chains, others: Chains) -> Served:
    """Give each surveyed place a permitted one that serves it, and it alone.

    A place asks for the line that is nearest over all that the two lines have in common, so that the answer doesn't
    flicker between two cables lying in each other's way; the permitted place keeps the nearer of two, the other asks for
    its next (Gale and Shapley 1962). Who is left over then gets the place of one who can do with another that is free.

    Parameters
    ----------
    pieces : Pieces
        Candidates; they may overlap on both scales.
    mine, others : Chains
        What the pieces are stretches of.
    """
    none = np.zeros(0, dtype=np.int64)
    cost = _mean_offsets(pieces, mine, others)
    held = Claims(none, np.zeros(0), np.zeros(0))
    start, end, which = contested(pieces.start, pieces.end, cost)[0]
    asking = Claims(which, start, end).long()
    for _ in range(_ROUNDS):
        held, refused = _decided(pieces, cost, held, asking)
        if not len(refused.piece):
            break
        asking = _next_choice(pieces, cost, refused)
        if not len(asking.piece):
            break
    everywhere = united(pieces.start, pieces.end)
    for _ in range(_MOVES):
        lost = _lost(held, everywhere)
        long = lost[1] - lost[0] > _WORTH_MOVING_M
        moved = _one_move(pieces, held, (lost[0][long], lost[1][long]), others)
        if not len(moved.piece):
            break
        held = _without(held, moved).and_also(moved)
    held = held.in_order()
    return Served(pieces.cut(held.piece, held.start, held.end), _lost(held, everywhere))


def _lost(held: Claims, everywhere: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    return outside(*united(held.start, held.end, _LEAST_M), *everywhere)[:2]


def _mean_offsets(pieces: Pieces, mine: Chains, others: Chains) -> Floats:
    """For each piece the mean distance of its two lines over all that they have in common."""
    one, other = mine.part_chain[mine.part[pieces.edge]], others.part_chain[others.part[pieces.other]]
    pair = np.unique(one * (len(others.chain_from) + 1) + other, return_inverse=True)[1].reshape(-1)
    length = pieces.end - pieces.start
    mean = np.bincount(pair, pieces.offset * length) / np.maximum(np.bincount(pair, length), 1e-12)
    return mean[pair]


def _decided(pieces: Pieces, cost: Floats, held: Claims, asking: Claims) -> tuple[Claims, Claims]:
    """Who holds what after some have asked, and who was refused or lost it."""
    asked = pieces.cut(asking.piece, asking.start, asking.end)
    nowhere = asked.high - asked.low <= 1e-9  # across the permitted line: it takes none of its metres
    free, asking = asking.only(nowhere), asking.only(~nowhere)
    low, high = asked.low[~nowhere], asked.high[~nowhere]
    have = pieces.cut(held.piece, held.start, held.end)
    by_place = np.argsort(have.low, kind="stable")
    _, two = overlapping(low, high, have.low[by_place], have.high[by_place])
    touched = np.zeros(len(held.piece), dtype=bool)
    touched[by_place[two]] = True
    ring = held.only(touched).and_also(asking)
    lows, highs = np.r_[have.low[touched], low], np.r_[have.high[touched], high]
    won, lost = contested(lows, highs, cost[ring.piece])
    return (
        held.only(~touched).and_also(_claims(pieces, ring, won)).and_also(free),
        _claims(pieces, ring, lost),
    )


def _claims(pieces: Pieces, ring: Claims, places: tuple[Floats, Floats, Ints]) -> Claims:
    """Intervals of the permitted scale back on the surveyed one."""
    low, high, which = places
    piece = ring.piece[which]
    p = pieces.only(piece)
    one, two = p.t_at(low), p.t_at(high)
    start = np.maximum(np.minimum(one, two), ring.start[which])
    end = np.minimum(np.maximum(one, two), ring.end[which])
    return Claims(piece, start, end).long()


def _next_choice(pieces: Pieces, cost: Floats, refused: Claims) -> Claims:
    """Say what refused places ask for next: the nearest line after the one that refused them."""
    refused = refused.in_order()
    piece, place = overlapping(pieces.start, pieces.end, refused.start, refused.end)
    was = refused.piece[place]
    later = (cost[piece] > cost[was]) | ((cost[piece] == cost[was]) & (piece > was))
    piece, place = piece[later], place[later]
    low = np.maximum(pieces.start[piece], refused.start[place])
    high = np.minimum(pieces.end[piece], refused.end[place])
    start, end, which = contested(low, high, cost[piece])[0]
    return Claims(piece[which], start, end).long()


def _one_move(pieces: Pieces, held: Claims, lost: tuple[Floats, Floats], others: Chains) -> Claims:
    """Move somebody to a free permitted place, so that a lost place is served, or nearer to it by one move.

    From the lost places over those who hold what they want to what these could have instead, and so on, until something
    is free (an augmenting path, Berge 1957).
    """
    nobody = held.only(np.zeros(len(held.piece), dtype=bool))
    if not len(lost[0]):
        return nobody
    have = pieces.cut(held.piece, held.start, held.end)
    order = np.argsort(have.low, kind="stable")
    held, have = held.only(order), have.only(order)
    free = outside(*united(have.low, have.high), others.chain_from, others.chain_to)[:2]
    seeking, sought = lost, lost
    for _ in range(_LONGEST_PATH):
        piece, place = overlapping(pieces.start, pieces.end, *seeking)
        start = np.maximum(pieces.start[piece], seeking[0][place])
        end = np.minimum(pieces.end[piece], seeking[1][place])
        wish, ring = pieces.cut(piece, start, end), Claims(piece, start, end)
        asks, where = overlapping(wish.low, wish.high, *free)
        low, high = np.maximum(wish.low[asks], free[0][where]), np.minimum(wish.high[asks], free[1][where])
        found = _claims(pieces, ring, (low, high, asks))
        found = found.only(found.end - found.start > _WORTH_MOVING_M)
        if len(found.piece):
            return _once(pieces, found)
        asks, holder = overlapping(wish.low, wish.high, have.low, have.high)
        low, high = np.maximum(wish.low[asks], have.low[holder]), np.minimum(wish.high[asks], have.high[holder])
        theirs = _claims(pieces, held, (low, high, holder))
        seeking = outside(*sought, *united(theirs.start, theirs.end))[:2]
        sought = united(np.r_[sought[0], seeking[0]], np.r_[sought[1], seeking[1]])
        if not len(seeking[0]):
            break
    return nobody


def _once(pieces: Pieces, claims: Claims) -> Claims:
    """Let each permitted place be taken by one, and each surveyed place take one."""
    to = pieces.cut(claims.piece, claims.start, claims.end)
    claims = _claims(pieces, claims, contested(to.low, to.high, to.offset)[0])
    start, end, which = contested(claims.start, claims.end, np.arange(len(claims.piece), dtype=float))[0]
    return Claims(claims.piece[which], start, end).long()


def _without(held: Claims, moved: Claims) -> Claims:
    """Return what is left of claims where others were put in their place on the surveyed scale."""
    held = held.in_order()
    start, end, which = outside(*united(moved.start, moved.end), held.start, held.end)
    return Claims(held.piece[which], start, end).long()
