"""The database backend: Django's for PostgreSQL, with less patience for one that stays away."""
