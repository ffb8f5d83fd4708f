"""Everything that can act at the table."""

from deepstack.agents.protocol import Agent, StrategyAgent

__all__ = ["Agent", "StrategyAgent"]
