"""Models behind doors: a Protocol, real ones, and a deterministic fake for tests. Heavy libraries are imported in here, when a model is first used."""
