"""Passages become an answer: the best sentences as they stand, or what a language model wrote, taken apart. Pure."""

from citations.synthesis.backing import is_backed
from citations.synthesis.claims import Cited, Draft, Drafted, Unanswered, drafts
from citations.synthesis.excerpts import Pick, Read, is_told
from citations.synthesis.extracts import Extract, extract
from citations.synthesis.rating import Rate, Signs
from citations.synthesis.wording import covered, named, stems, subject
from citations.synthesis.writing import prompt, rewriting

__all__ = [
    "Cited",
    "Draft",
    "Drafted",
    "Extract",
    "Pick",
    "Rate",
    "Read",
    "Signs",
    "Unanswered",
    "covered",
    "drafts",
    "extract",
    "is_backed",
    "is_told",
    "named",
    "prompt",
    "rewriting",
    "stems",
    "subject",
]
