"""Solvers for games small enough for tables: linear programs and matrix games."""
