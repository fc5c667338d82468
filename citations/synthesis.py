"""Passages become an answer: the best sentences as they stand, or what a language model wrote, taken apart. Pure."""
