"""How good is a strategy? Matches today; best response, LBR and AIVAT as they land."""
