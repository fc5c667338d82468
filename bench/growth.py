"""Draw how something grows: lines over logarithmic axes, as an SVG that is readable on light and
dark pages.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from pathlib import Path
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 70, 200, 50, 50
COLOURS = ("#c2410c", "#2563eb", "#15803d", "#9333ea", "#6b7280", "#b45309")


@dataclass(frozen=True, slots=True)
class Line:
    """A name and its points, all above zero."""

    name: str
    points: Sequence[tuple[float, float]]


def draw(path: Path, lines: Sequence[Line], *, title: str, unit: str, across: str) -> None:
    """Write a drawing of lines."""
    xs, ys = ([point[axis] for line in lines for point in line.points] for axis in (0, 1))
    plan = Plan(
        low=(log10(min(xs)), floor(log10(min(ys)))), high=(log10(max(xs)), ceil(log10(max(ys))))
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
        f' font-family="system-ui, sans-serif" font-size="13" role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff" rx="8"/>',
        f'<text x="{LEFT}" y="28" font-size="15" font-weight="600" fill="#111">{escape(title)}'
        f" ({escape(unit)})</text>",
        *plan.grid(sorted(set(xs)), across),
    ]
    for place, line in enumerate(plan.spaced(lines)):
        parts += plan.line(line[0], line[1], COLOURS[place % len(COLOURS)])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*parts, "</svg>", ""]))


@dataclass(frozen=True, slots=True)
class Plan:
    """Where values lie on the drawing; ``low`` and ``high`` are the logarithms at the ends of the
    axes.
    """

    low: tuple[float, float]
    high: tuple[float, float]

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point lies."""
        across = (log10(x) - self.low[0]) / (self.high[0] - self.low[0])
        up = (log10(y) - self.low[1]) / max(1, self.high[1] - self.low[1])
        return round(LEFT + across * (WIDTH - LEFT - RIGHT), 1), round(
            HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM), 1
        )

    def grid(self, xs: Sequence[float], across: str) -> list[str]:
        """Draw a horizontal line for each power of ten, and the sizes below."""
        parts = []
        for power in range(int(self.low[1]), int(self.high[1]) + 1):
            y = self.at(xs[0], 10**power)[1]
            parts.append(
                f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}" stroke="#e5e7eb"/>'
            )
            parts.append(
                f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end"'
                f' fill="#4b5563">{10**power:,g}</text>'
            )
        for x in xs:
            parts.append(
                f'<text x="{self.at(x, 1)[0]}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle"'
                f' fill="#4b5563">{x:,.0f}</text>'
            )
        return [
            *parts,
            f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle"'
            f' fill="#4b5563">{escape(across)}</text>',
        ]

    def spaced(self, lines: Sequence[Line]) -> list[tuple[Line, float]]:
        """Return lines, the highest last point first, with the heights of their names, which do not
        overlap.
        """
        result: list[tuple[Line, float]] = []
        for line in sorted(lines, key=lambda line: -line.points[-1][1]):
            y = self.at(*line.points[-1])[1] + 4
            result.append((line, max(y, result[-1][1] + 17) if result else y))
        return result

    def line(self, line: Line, label: float, colour: str) -> list[str]:
        """Draw a line, its points and its name."""
        points = [self.at(*point) for point in line.points]
        return [
            f'<polyline points="{" ".join(f"{x},{y}" for x, y in points)}" fill="none"'
            f' stroke="{colour}" stroke-width="2"/>',
            *(f'<circle cx="{x}" cy="{y}" r="3.5" fill="{colour}"/>' for x, y in points),
            f'<text x="{points[-1][0] + 10}" y="{label}"'
            f' fill="{colour}">{escape(line.name)}</text>',
        ]
