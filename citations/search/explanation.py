"""Candidates with their scores, and how a score came about."""

from typing import NamedTuple

from citations.passages import Explanation, TermScore
from citations.search import fusion, rescoring
from citations.search.candidates import Candidate


class CandidateHit(NamedTuple):
    """A candidate and its scores; ``most`` is the maximum of the fused score."""

    candidate: Candidate
    fused: rescoring.RescoredHit[int]
    bm25: float | None
    cosine: float | None
    most: float

    @property
    def share(self) -> float:
        return min(1.0, self.fused.score / self.most)


class RankedHit(NamedTuple):
    """A candidate with its final score.

    ``least`` is the lowest re-ranked score, for candidates below it.
    """

    hit: CandidateHit
    score: float
    rerank_score: float | None = None
    least: float | None = None

    @property
    def formula(self) -> str:
        if self.rerank_score is not None:
            return f"{self.score:.4f} = the cross-encoder's score"
        if self.least is not None:
            lowest = f"{self.least:.4f} (the lowest re-ranked score)"
            return f"{self.score:.4f} = {lowest} · {_sum(self.hit)} / {self.hit.most:.6f}"
        return f"{self.score:.4f} = {_sum(self.hit)} / {self.hit.most:.6f} (the maximum)"


def explanation(ranked: RankedHit, terms: tuple[TermScore, ...]) -> Explanation:
    """Explain a score; ``terms`` are the query's words in the passage."""
    hit = ranked.hit
    lexical_rank, vector_rank = hit.fused.ranks
    rrf_lexical, rrf_vector = hit.fused.parts
    lexical_weight, vector_weight = hit.fused.weights
    return Explanation(
        lexical_rank=lexical_rank,
        bm25=hit.bm25,
        terms=terms if lexical_rank else (),
        vector_rank=vector_rank,
        cosine=hit.cosine,
        rrf_lexical=rrf_lexical,
        rrf_vector=rrf_vector,
        rrf=rrf_lexical + rrf_vector,
        lexical_weight=lexical_weight,
        vector_weight=vector_weight,
        neighbours=hit.fused.neighbours or 0.0,
        fused=hit.fused.score,
        rerank_score=ranked.rerank_score,
        formula=ranked.formula,
    )


def _sum(hit: CandidateHit) -> str:
    """Write the fused score as a sum."""
    fused = hit.fused
    parts = zip(fused.ranks, fused.weights, strict=True)
    terms = [
        f"{weight:.3f}/({fusion.RRF_K} + {rank})" for rank, weight in parts if rank is not None
    ]
    if fused.neighbours is None:
        return f"({' + '.join(terms)})"
    terms.append(f"{fused.neighbours:.6f} from its neighbours")
    return f"({' + '.join(terms)}) / {rescoring.SHARED:g}"
