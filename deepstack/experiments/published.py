"""Figures as printed in the theses, to stand beside ours.

N. Burch, "Time and Space: Why Imperfect Information Games are Hard" (2017), tables 4.1 to 4.5 and
section 5.4; M. Johanson, "Robust Strategies and Counter-Strategies" (2016), table 2.1. Slopes are
(all points, last 90 %); Burch does not say over how many iterations.
"""

from __future__ import annotations

Slopes = tuple[float, float]

# Tables 4.1 and 4.2: game, rule, strategy.
SLOPES: dict[str, dict[str, dict[str, Slopes]]] = {
    "limit_holdem": {
        "cfr_plus": {"average": (-1.66, -1.41), "current": (-1.49, -1.48)},
    },
    "rhode_island": {
        "cfr": {"average": (-0.89, -0.85), "current": (-0.22, -0.15)},
        "cfr_plus": {"average": (-1.43, -1.50), "current": (-0.91, -0.77)},
    },
    "leduc": {
        "cfr": {"average": (-0.72, -0.66), "current": (-0.18, -0.33)},
        "cfr_plus": {"average": (-1.33, -1.52), "current": (-0.48, -0.31)},
    },
    "kuhn": {
        "cfr": {"average": (-0.80, -0.80), "current": (-0.25, -0.26)},
        "cfr_plus": {"average": (-0.84, -0.81), "current": (-0.25, -0.27)},
    },
    "random": {
        "cfr": {"average": (-0.75, -0.74), "current": (-0.22, -0.23)},
        "cfr_plus": {"average": (-1.64, -1.69), "current": (-0.78, -0.72)},
    },
    "blotto": {
        "cfr": {"average": (-0.85, -0.83), "current": (-0.22, -0.22)},
        "cfr_plus": {"average": (-0.99, -0.95), "current": (-0.26, -0.26)},
    },
    "rps": {
        "cfr": {"average": (-0.76, -0.77), "current": (-0.24, -0.20)},
        "cfr_plus": {"average": (-0.94, -0.93), "current": (-0.25, -0.29)},
    },
    "pennies": {
        "cfr": {"average": (-0.79, -0.81), "current": (-0.27, -0.31)},
        "cfr_plus": {"average": (-0.87, -0.83), "current": (-0.25, -0.25)},
    },
}

# Table 4.3, Leduc, last 90 %: average and current strategies.
ALTERNATION: dict[str, tuple[float, float]] = {
    "cfr": (-0.66, -0.33),
    "cfr_plus": (-1.52, -0.31),
    "cfr_simultaneous": (-0.52, -0.02),
    "cfr_plus_simultaneous": (-0.60, -0.24),
}

# Tables 4.4 and 4.5, average strategies; the rules that are not ours have no name here.
FIRST_ORDER: dict[str, dict[str, Slopes]] = {
    "leduc": {
        "cfr": (-0.72, -0.66),
        "cfr_plus": (-1.33, -1.52),
        "optimistic": (-1.0, -1.0),
        "Tseng's algorithm 1": (-0.84, -0.87),
        "Nemirovski's mirror-prox": (-1.0, -1.0),
    },
    "kuhn": {
        "cfr": (-0.80, -0.80),
        "cfr_plus": (-0.84, -0.81),
        "optimistic": (-1.0, -1.0),
        "Tseng's algorithm 1": (-0.94, -1.04),
        "Nemirovski's mirror-prox": (-1.0, -1.0),
    },
}

# Johanson, table 2.1, in mbb/g.
CARD_BLIND: dict[str, str] = {
    "always_fold": "750",
    "always_call": "1163.48",
    "always_raise": "3697.69",
    "half_half": "2406.55",
}

# Burch, section 5.4: exploitability in chips after solving an abstract strategy of Leduc again.
RESOLVING: dict[str, str] = {
    "original": "0.382",
    "safe_best_response": "0.33 (200), 0.288",
    "safe_self_play": "0.143",
    "max_margin_best_response": "as safe",
    "unsafe": "0.39 (6,250)",
}

# The same as points of a plot: iterations and chips. For self-play (0.143) none are named.
RESOLVING_POINTS: dict[str, tuple[tuple[int, float], ...]] = {
    "safe_best_response": ((200, 0.33), (2000, 0.288)),
    "unsafe": ((6250, 0.39),),
}
