"""Durable work: rows that outlive the process that works on them (docs/decisions/0013)."""
