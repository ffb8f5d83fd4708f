"""Re-solving: solve a subgame again, without giving the opponent more than it was promised."""
