"""Empties the database after a test that commits, in a tenth of the time."""
