"""The look of tables in the admin."""
