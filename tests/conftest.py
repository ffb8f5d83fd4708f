"""Helpers of several packages' tests stand in this folder."""
