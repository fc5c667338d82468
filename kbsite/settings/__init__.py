"""Settings: what the environment may give, and what Django reads."""
