"""Models: their protocols, implementations, and deterministic fakes for tests.

Heavy libraries are imported here only, when a model is first used.
"""
