"""Training of value networks. Planned: docs/architecture.md says where it goes."""
