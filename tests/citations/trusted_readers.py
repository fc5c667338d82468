"""Cross-encoders whose sign outweighs all others of the judge."""

import pytest

from citations.search.judge import ReaderWeights


def trust_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what a cross-encoder says decide on the order of what it reads."""
    trusting, shares = ReaderWeights(closeness=20.0, rank=20.0), ReaderWeights.shares
    monkeypatch.setattr(ReaderWeights, "least", trusting.least)
    monkeypatch.setattr(ReaderWeights, "shares", lambda _, scores: shares(trusting, scores))
