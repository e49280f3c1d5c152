"""The sample town's street grid: crossings, streets of their own widths, and networks that grow along them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

CITY_CRS = "EPSG:31983"
N_BLOCKS = 20
PITCH_M = 92.0
ANGLE_DEG = 17.3
ORIGIN = (322000.0, 7415000.0)
STREETS = (
    "Acácias", "Amoreiras", "Araucárias", "Aroeiras", "Azaleias", "Begônias", "Bromélias", "Camélias", "Cerejeiras",
    "Cravos", "Dálias", "Figueiras", "Flamboyants", "Gardênias", "Gérberas", "Girassóis", "Goiabeiras",
    "Hortênsias", "Íris", "Jabuticabeiras", "Jacarandás", "Jasmins", "Lírios", "Magnólias", "Mangueiras",
    "Margaridas", "Orquídeas", "Paineiras", "Palmeiras", "Petúnias", "Pitangueiras", "Primaveras", "Quaresmeiras",
    "Rosas", "Samambaias", "Sapucaias", "Sibipirunas", "Tulipas", "Verbenas", "Violetas", "Vitórias-Régias", "Ipês",
)  # fmt: skip

Node = tuple[int, int]


@dataclass(frozen=True)
class Grid:
    """Crossings of the streets and the streets' widths: ``widths_m[0][i]`` runs along j, ``widths_m[1][j]`` along i."""

    nodes: np.ndarray
    widths_m: np.ndarray

    @classmethod
    def draw(cls, rng: np.random.Generator) -> "Grid":
        """Draw the grid: bent, jittered, turned by an odd angle, nodes rounded to a centimetre."""
        steps = np.arange(N_BLOCKS + 1)
        i, j = np.meshgrid(steps, steps, indexing="ij")
        half = N_BLOCKS / 2
        x = (i - half) * PITCH_M + 15 * np.sin(j / 3.1) + 8 * (rng.random(i.shape) - 0.5)
        y = (j - half) * PITCH_M + 12 * np.sin(i / 2.7 + 1) + 8 * (rng.random(i.shape) - 0.5)
        turn = np.deg2rad(ANGLE_DEG)
        nodes = np.stack(
            [
                ORIGIN[0] + x * np.cos(turn) - y * np.sin(turn),
                ORIGIN[1] + x * np.sin(turn) + y * np.cos(turn),
            ],
            axis=-1,
        )
        widths = 10 + 0.5 * np.floor(9 * rng.random((2, N_BLOCKS + 1)))
        widths[:, N_BLOCKS // 2] = 16.0
        return cls(np.round(nodes, 2), widths)

    def corners(self, i: int, j: int, past: tuple[float, float, float, float] = (0, 0, 0, 0)) -> np.ndarray:
        """Four corners of a block, each side ``past`` metres beyond the kerb (bottom, right, top, left)."""
        quad = self.nodes[[i, i + 1, i + 1, i], [j, j, j + 1, j + 1]]
        widths = np.array([self.widths_m[1, j], self.widths_m[0, i + 1], self.widths_m[1, j + 1], self.widths_m[0, i]])
        along = np.roll(quad, -1, axis=0) - quad
        along /= np.linalg.norm(along, axis=1)[:, None]
        inward = np.stack([-along[:, 1], along[:, 0]], axis=-1)
        start = quad + inward * (widths / 2 - np.array(past))[:, None]
        before, start_before = np.roll(along, 1, axis=0), np.roll(start, 1, axis=0)
        gap = start - start_before
        reach = (gap[:, 0] * along[:, 1] - gap[:, 1] * along[:, 0]) / (
            before[:, 0] * along[:, 1] - before[:, 1] * along[:, 0]
        )
        return start_before + before * reach[:, None]

    def line(self, path: list[Node], offset_m: float = 0.0) -> np.ndarray:
        """Points of a line along a path of crossings, ``offset_m`` to the left of it."""
        points = self.nodes[[n[0] for n in path], [n[1] for n in path]]
        along = np.diff(points, axis=0)
        along /= np.linalg.norm(along, axis=1)[:, None]
        left = np.stack([-along[:, 1], along[:, 0]], axis=-1) * offset_m
        sides = np.concatenate([left[:1], (left[1:] + left[:-1]) / 2, left[-1:]])
        return np.round(points + sides, 2)

    def street(self, path: list[Node]) -> tuple[str, float]:
        """Name and width of the street that a path starts along."""
        (i, j), (i2, _) = path[:2]
        axis, index = (0, i) if i == i2 else (1, j)
        if index == N_BLOCKS // 2:
            return ("Avenida Central", "Avenida da Estação")[axis], self.widths_m[axis, index]
        return f"Rua {STREETS[(index * 2 + axis) % len(STREETS)]}", self.widths_m[axis, index]


def grow(grid: Grid, rng: np.random.Generator, source: Node, target_m: float, twist: float = 40) -> list[list[Node]]:
    """Grow runs of one to three street edges from a source, like a network, until they are long enough.

    Parameters
    ----------
    twist : float
        How far chance, in steps of the grid, draws the tree away from a compact shape.
    """
    size = N_BLOCKS + 1
    weight = rng.random((2, size, size))
    reached, edges, total = {source}, set(), 0.0
    while total < target_m:
        options = []
        for i, j in reached:
            for axis, (a, b) in _edges_at(i, j):
                if (b if a == (i, j) else a) not in reached:
                    away = abs(a[0] + b[0] - 2 * source[0]) + abs(a[1] + b[1] - 2 * source[1])
                    options.append((away + twist * weight[(axis, *a)], a, b))
        _, a, b = min(options)
        reached |= {a, b}
        edges.add((a, b))
        total += float(np.linalg.norm(grid.nodes[a] - grid.nodes[b]))
    runs = []
    while edges:
        a, b = min(edges)
        edges.remove((a, b))
        path, step = [a, b], (b[0] - a[0], b[1] - a[1])
        for _ in range(int(3 * rng.random())):
            after = (path[-1][0] + step[0], path[-1][1] + step[1])
            if (path[-1], after) not in edges:
                break
            edges.remove((path[-1], after))
            path.append(after)
        runs.append(path)
    return runs


def _edges_at(i: int, j: int) -> Iterator[tuple[int, tuple[Node, Node]]]:
    if i < N_BLOCKS:
        yield 0, ((i, j), (i + 1, j))
    if j < N_BLOCKS:
        yield 1, ((i, j), (i, j + 1))
    if i > 0:
        yield 0, ((i - 1, j), (i, j))
    if j > 0:
        yield 1, ((i, j - 1), (i, j))
