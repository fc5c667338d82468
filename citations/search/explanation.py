"""Candidates with how they were found and scored, and how a score came about."""

from typing import NamedTuple

from citations.passages import Explanation, TermScore
from citations.search import fusion, rescoring
from citations.search.candidates import Candidate


class CandidateHit(NamedTuple):
    """A candidate with how it was found; ``most`` is the fused score of a passage that is first in every branch that was looked up."""

    candidate: Candidate
    fused: rescoring.RescoredHit[int]
    bm25: float | None
    cosine: float | None
    most: float

    @property
    def share(self) -> float:
        return min(1.0, self.fused.score / self.most)


class RankedHit(NamedTuple):
    """A candidate with its score; ``least`` is that of the worst that the cross-encoder looked at, for those behind it."""

    hit: CandidateHit
    score: float
    rerank_score: float | None = None
    least: float | None = None

    @property
    def formula(self) -> str:
        """How the score came about, in numbers."""
        if self.rerank_score is not None:
            return f"{self.score:.4f} = the cross-encoder's score"
        if self.least is not None:
            return f"{self.score:.4f} = {self.least:.4f}, the least that was re-ranked, · {_sum(self.hit)} / {self.hit.most:.6f}"
        return f"{self.score:.4f} = {_sum(self.hit)} / {self.hit.most:.6f}, the most that it can be"


def explanation(ranked: RankedHit, terms: tuple[TermScore, ...]) -> Explanation:
    """Say how a score came about; ``terms`` are the passage's words of the query."""
    hit = ranked.hit
    (lexical_rank, vector_rank), (rrf_lexical, rrf_vector), (lexical_weight, vector_weight) = (
        hit.fused.ranks,
        hit.fused.parts,
        hit.fused.weights,
    )
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
        neighbours=hit.fused.beside or 0.0,
        fused=hit.fused.score,
        rerank_score=ranked.rerank_score,
        formula=ranked.formula,
    )


def _sum(hit: CandidateHit) -> str:
    """Write out how the fused score adds up."""
    fused = hit.fused
    parts = zip(fused.ranks, fused.weights, strict=True)
    terms = [
        f"{weight:.3f}/({fusion.RRF_K} + {rank})" for rank, weight in parts if rank is not None
    ]
    if fused.beside is None:
        return f"({' + '.join(terms)})"
    return f"({' + '.join([*terms, f'{fused.beside:.6f} from its neighbours'])}) / {rescoring.SHARED:g}"
