"""Measure search and answers with gold questions."""
