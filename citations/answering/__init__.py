"""A question becomes an answer whose every citation was checked, or a refusal: one function a stage.

Route, retrieve, write, ground. What a language model writes is worth what its quotes are worth: each is looked up in the sources, word for word, and a claim
without one that stands there is dropped. Nothing is told before it was checked.
"""

from citations.answering.asking import ask
from citations.answering.following import rewritten

__all__ = ["ask", "rewritten"]
