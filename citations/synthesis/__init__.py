"""Passages become an answer: the best sentences as they stand, or what a language model wrote, taken apart. Pure."""

from citations.synthesis.extracts import Pick, extract
from citations.synthesis.wording import covered, stems, subject

__all__ = ["Pick", "covered", "extract", "stems", "subject"]
