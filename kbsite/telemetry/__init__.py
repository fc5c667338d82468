"""How servers and workers are watched: metrics, logs and traces (docs/operating.md)."""
