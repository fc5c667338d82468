"""Cuebase from Python: one library, opened on this machine or on a server."""
