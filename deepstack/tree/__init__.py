"""Public trees: the bets and raises they offer, and their nodes as flat arrays."""
