"""Kills of every process of a busy `kb serve`, and what must hold after each."""
