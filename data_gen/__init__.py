"""Training data for value networks. Planned: docs/architecture.md says where it goes."""
