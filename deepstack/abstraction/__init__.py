"""Hands as features and buckets: many hands that play alike become one."""
