"""Hands as features and buckets."""
