"""Tables of the report, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table, padded so that it also reads as text; numbers to the right.

    >>> print("\\n".join(markdown_table(["game", "T"], [["Kuhn", "100"]])))
    | game | T   |
    |:-----|----:|
    | Kuhn | 100 |
    """
    columns = list(zip(header, *rows, strict=True))
    widths = [max(3, *map(len, column)) for column in columns]
    right = [all(map(_is_number, column[1:])) for column in columns]
    shape = list(zip(widths, right, strict=True))

    def line(cells: Sequence[str], pad: Sequence[bool]) -> str:
        padded = [
            c.rjust(w) if r else c.ljust(w) for c, w, r in zip(cells, widths, pad, strict=True)
        ]
        return "| " + " | ".join(padded) + " |"

    rules = ["-" * (w + 1) + ":" if r else ":" + "-" * (w + 1) for w, r in shape]
    return [
        line(header, [False] * len(widths)),
        "|" + "|".join(rules) + "|",
        *(line(row, right) for row in rows),
    ]


NOTHING = "–"  # where there is no figure


def _is_number(text: str) -> bool:
    return text == "" or text.strip("*")[0] in f"0123456789+-{NOTHING}"


def show_slope(value: float | None) -> str:
    """Two digits, as the thesis prints them.

    >>> show_slope(-0.8549), show_slope(None)
    ('-0.85', '–')
    """
    return NOTHING if value is None else f"{value:.2f}"


def show_count(value: float) -> str:
    """A whole number with its thousands apart.

    >>> show_count(10_000)
    '10,000'
    """
    return f"{value:,.0f}"


def show_seconds(seconds: float) -> str:
    """Seconds with three digits or so.

    >>> [show_seconds(s) for s in (0.123, 12.34, 1234.5)]
    ['0.1', '12.3', '1,234']
    """
    return f"{seconds:.1f}" if seconds < 100 else f"{seconds:,.0f}"
