"""Layered layout: boxes in rows by their depth, edges from row to row with few crossings.

After Sugiyama, Tagawa and Toda (1981): rows by longest path, dummy boxes along long edges, order
within rows by the mean of the neighbours, and then coordinates that straighten the edges.
Only the order of the program decides, so the same program always has the same picture.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

GAP_X, GAP_Y, MARGIN, DUMMY = 26.0, 34.0, 16.0, 10.0
SWEEPS = 8
ASIDE = 0.05  # how much a source pulls at what it goes into


class Drawing:
    """The positions of boxes and edges: upper left corners, and the points of each edge."""

    def __init__(
        self,
        corners: list[tuple[float, float]],
        points: list[list[tuple[float, float]]],
        width: float,
        height: float,
    ) -> None:
        self.corners, self.points = corners, points
        self.width, self.height = width, height


def layout(sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]]) -> Drawing:
    """Place boxes of these sizes, joined by edges that go from lower to higher numbers."""
    n = len(sizes)
    if not n:
        return Drawing([], [[] for _ in edges], 2 * MARGIN, 2 * MARGIN)
    row = rows_of(n, edges)
    widths = [width for width, _ in sizes]
    chains = []  # for each edge the boxes and places that it passes
    for a, b in edges:
        chain = [a]
        for between in range(row[a] + 1, row[b]):
            chain.append(len(row))
            row.append(between)
            widths.append(DUMMY)
        chains.append([*chain, b])
    above: list[list[int]] = [[] for _ in row]
    below: list[list[int]] = [[] for _ in row]
    for chain in chains:
        for a, b in itertools.pairwise(chain):
            above[b].append(a)
            below[a].append(b)
    rows: list[list[int]] = [[] for _ in range(max(row) + 1)]
    for i, r in enumerate(row):
        rows[r].append(i)
    order(rows, above, below)
    x = coordinates(rows, widths, above, below)
    heights = [max([sizes[i][1] for i in r if i < n], default=0.0) for r in rows]
    tops, y = [], MARGIN
    for height in heights:
        tops.append(y)
        y += height + GAP_Y
    corners = [(x[i] - widths[i] / 2, tops[row[i]]) for i in range(n)]
    points = []
    for chain in chains:
        a, b = chain[0], chain[-1]
        middle = [(x[i], tops[row[i]] + heights[row[i]] / 2) for i in chain[1:-1]]
        start = (x[a], tops[row[a]] + sizes[a][1])
        points.append([start, *middle, (x[b], tops[row[b]])])
    width = max([corners[i][0] + sizes[i][0] for i in range(n)]) + MARGIN
    return Drawing(corners, points, max(width, max(x) + MARGIN), y - GAP_Y + MARGIN)


def rows_of(n: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """The row of each box: below all boxes from which edges come, sources just above their use."""
    row = [0] * n
    outgoing: list[list[int]] = [[] for _ in range(n)]
    incoming = [0] * n
    for a, b in sorted(edges, key=lambda edge: edge[1]):
        row[b] = max(row[b], row[a] + 1)
        outgoing[a].append(b)
        incoming[b] += 1
    for i in range(n):
        if not incoming[i] and outgoing[i]:
            row[i] = min([row[b] for b in outgoing[i]]) - 1
    return row


def order(rows: list[list[int]], above: list[list[int]], below: list[list[int]]) -> None:
    """Sort each row by the mean place of the neighbours, going down and up."""
    place = {i: float(k) for r in rows for k, i in enumerate(r)}
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for r in rows if down else reversed(rows):
            near = above if down else below
            wanted = {i: (mean([place[j] for j in near[i]], None, place[i]), place[i]) for i in r}
            r.sort(key=wanted.__getitem__)
            for k, i in enumerate(r):
                place[i] = float(k)


def coordinates(
    rows: list[list[int]], widths: list[float], above: list[list[int]], below: list[list[int]]
) -> list[float]:
    """The middle of each box: near the mean of its neighbours, without touching others."""
    x = [0.0] * len(widths)
    weight = [1.0 if near else ASIDE for near in above]  # what has sources stays on its line
    for r in rows:
        at = 0.0
        for i in r:
            x[i] = at + widths[i] / 2
            at += widths[i] + GAP_X
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for r in rows if down else reversed(rows):
            near = above if down else below
            wanted = [mean([x[j] for j in near[i]], [weight[j] for j in near[i]], x[i]) for i in r]
            settle(r, wanted, widths, weight, x)
    left = min([x[i] - widths[i] / 2 for r in rows for i in r])
    return [at - left + MARGIN for at in x]


def mean(xs: list[float], weights: list[float] | None, otherwise: float) -> float:
    if not xs:
        return otherwise
    weights = [1.0] * len(xs) if weights is None else weights
    return sum([x * w for x, w in zip(xs, weights, strict=True)]) / sum(weights)


def settle(
    row: list[int], wanted: list[float], widths: list[float], weight: list[float], x: list[float]
) -> None:
    """Give each box of a row the nearest place to the wanted one that keeps the order.

    Boxes that would overlap form a block, which goes where its boxes want to be on average: the
    weighted least squares, by pooling (Barlow and others 1972).
    """
    blocks: list[list[float]] = []  # start, length, weighted sum of wanted starts, weight
    members: list[list[int]] = []
    for i, want in zip(row, wanted, strict=True):
        width = widths[i] + GAP_X
        blocks.append([want - width / 2, width, weight[i] * (want - width / 2), weight[i]])
        members.append([i])
        while len(blocks) > 1 and blocks[-2][0] + blocks[-2][1] > blocks[-1][0]:
            _, length, total, heavy = blocks.pop()
            mine = members.pop()
            before = blocks[-1]
            before[2] += total - before[1] * heavy
            before[1] += length
            before[3] += heavy
            before[0] = before[2] / before[3]
            members[-1] += mine
    for (start, *_), block in zip(blocks, members, strict=True):
        at = start
        for i in block:
            x[i] = at + (widths[i] + GAP_X) / 2
            at += widths[i] + GAP_X
