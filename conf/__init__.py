"""Configuration of the programs: one file a program, and groups of choices."""
