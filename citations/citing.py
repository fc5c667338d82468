"""Windows of speech become citations, stage by stage; each stage is one function, and timed.

Where to look, what is said (a vector), whether it is about the subject at all, its keywords, what is looked for (a vector), the nearest passages, how
relevant they are, and storing the best. Models work while no row is locked. Whatever fails, the window gets an outcome and a note; only while the
database is away it keeps waiting.
"""

import logging
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from threading import Lock
from time import perf_counter
from typing import Any, Final, TypeAlias

import numpy as np
from django.db import InterfaceError, OperationalError, connection, transaction
from django.utils import timezone
from numpy.typing import NDArray

from citations import candidates, conf, lock, vectors
from citations.candidates import Candidate
from citations.errors import KnowledgeBaseError, ModelError
from citations.filters import Reach
from citations.happenings import tell
from citations.lectures import CITATIONS, told
from citations.models import Citation, EmbeddingSpace, LectureSession, Outcome, Source, Window
from citations.providers import registry, tokens
from citations.providers.embedding import Embedder
from citations.snippets import snippet
from transcripts.scope import Scope

logger = logging.getLogger(__name__)

NEAREST: Final = 5  # passages that are looked at for a window
CITED: Final = 3  # of them at most
TERMS: Final = 5  # keywords of a window
MOST_TOKENS: Final = 199  # of what is looked for, those that a model puts around it included
_AROUND: Final = 2  # tokens that it puts around it
_KEPT: Final = 512  # vectors of what was looked for of late

REACH, SENSE, GATE, KEYWORDS, EMBED, SEARCH, RERANK, STORE = "reach", "sense", "gate", "keywords", "embed", "search", "rerank", "store"
STAGES: Final = (REACH, SENSE, GATE, KEYWORDS, EMBED, SEARCH, RERANK, STORE)

Vector: TypeAlias = NDArray[Any]


class Form(StrEnum):
    """What is looked for: a window's text with its keywords behind it, or its text alone."""

    ENRICHED = "enriched"
    PLAIN = "plain"


FORM: Final = Form.ENRICHED


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """What came of a window: its row as it is stored now, and what it cites, best first. ``is_stored`` is false while the database is away."""

    window: Window
    citations: tuple[Citation, ...] = ()
    is_stored: bool = True


@dataclass(frozen=True, slots=True)
class Found:
    """A passage that is to be cited, and how relevant it is, 0 to 1."""

    candidate: Candidate
    score: float


@dataclass(slots=True)
class _Run:
    """One window on its way. It is decided once it has an outcome, or the database went away."""

    window: Window
    started: float
    reach: Reach | None = None
    sense: Vector | None = None  # of what is said, by the model that the gate and the keywords go by
    text: str = ""  # what is looked for
    vector: Vector | None = None  # of that, in the library's space
    near: list[tuple[Candidate, float]] = field(default_factory=list)  # nearest first, with cosines
    found: list[Found] = field(default_factory=list)
    outcome: Outcome | None = None
    notes: list[str] = field(default_factory=list)
    is_away: bool = False
    result: Cited | None = None

    @property
    def is_open(self) -> bool:
        return self.outcome is None and not self.is_away

    def decide(self, outcome: Outcome, note: str = "") -> None:
        self.outcome = outcome
        if note:
            self.notes.append(note)

    def lose_database(self, error: Exception) -> None:
        logger.error("The database does not answer; window %s of lecture %s waits: %s", self.window.index, self.window.session_id, error)
        self.is_away = True
        self.notes.append("The database does not answer.")


def cite(windows: Sequence[Window], *, form: Form = FORM) -> list[Cited]:
    """Cite windows that wait, together; return what came of each, in their order. Nothing is raised: what fails becomes their outcome.

    A window that somebody else has finished meanwhile stays as it is; its citations are returned.
    """
    runs = [_Run(window, perf_counter()) for window in windows]
    with _surviving_the_database(runs):
        _look_where(runs)
        _make_sense(runs)
        _leave_out_asides(runs)
        _settle(runs)  # what is decided does not wait for a model's server
        _find_keywords(runs)
        space = _embed(runs, form)
        for run in runs:
            _look_up(run, space)
            _settle(runs)
    return [run.result or _unstored(run) for run in runs]


def give_up(window: Window, note: str) -> Cited:
    """Store that a window failed, and tell of it."""
    run = _Run(window, perf_counter())
    run.decide(Outcome.FAILED, note)
    return _stored(run)


# Time and trouble


@contextmanager
def _timed(stage: str, runs: Sequence[_Run]) -> Iterator[list[_Run]]:
    """Give the windows that are still open to a stage, and write down how long it took: whoever is in a batch waits for all of it."""
    concerned = [run for run in runs if run.is_open]
    started = perf_counter()
    try:
        yield concerned
    finally:
        for run in concerned:
            run.window.stages[stage] = round((perf_counter() - started) * 1000, 3)


@contextmanager
def _surviving_the_database(runs: Sequence[_Run]) -> Iterator[None]:
    """Let windows wait when the database goes away under them."""
    try:
        yield
    except (OperationalError, InterfaceError) as error:
        for run in runs:
            if run.result is None:
                run.lose_database(error)


def _each(runs: Sequence[_Run], work: Callable[[_Run], None], *, failing: Callable[[_Run], None]) -> None:
    """Do something for each window; an unexpected failure is logged, and what follows from it concerns that window alone."""
    for run in runs:
        try:
            work(run)
        except (OperationalError, InterfaceError):
            raise
        except Exception:
            logger.exception("window %s of lecture %s", run.window.index, run.window.session_id)
            failing(run)


def _fail(run: _Run) -> None:
    run.decide(Outcome.FAILED, "It could not be cited, for an unexpected reason; the server's log says more.")


# Where to look


def _look_where(runs: Sequence[_Run]) -> None:
    with _timed(REACH, runs) as open_:
        found = reaches({run.window.session_id for run in open_})
        for run in open_:
            run.reach = found[run.window.session_id]
            if run.reach.is_empty:
                run.decide(Outcome.NO_DOCUMENTS)


def reaches(sessions: Collection[int]) -> dict[int, Reach]:
    """Return what each session (by primary key) cites: the sources that it names, or all of its collection; never the recording that it replays."""
    with connection.cursor() as cursor:
        cursor.execute(_REACH, [list(sessions)])
        found = {pk: Reach(sources=frozenset(sources), chunks=chunks) for pk, sources, chunks in cursor.fetchall()}
    return {pk: found.get(pk, Reach(sources=frozenset(), chunks=0)) for pk in sessions}


# All sessions of a batch at once. What may be seen is what ``SourceQuerySet.visible`` says.
_REACH = """
    SELECT lecture.id, array_agg(source.id), sum(source.chunk_count)::bigint
    FROM citations_lecturesession lecture
    JOIN citations_source source ON source.collection_id = lecture.collection_id AND source.chunk_count > 0
    LEFT JOIN transcripts_video video ON video.id = source.video_id
    LEFT JOIN transcripts_transcript own ON own.id = lecture.transcript_id
    WHERE lecture.id = ANY(%s) AND (video.id IS NULL OR (video.collection_id = lecture.collection_id AND video.id IS DISTINCT FROM own.video_id))
        AND (
            NOT EXISTS (SELECT FROM citations_lecturesession_sources named WHERE named.lecturesession_id = lecture.id)
            OR EXISTS (SELECT FROM citations_lecturesession_sources named WHERE named.lecturesession_id = lecture.id AND named.source_id = source.id)
        )
    GROUP BY lecture.id
"""


# What is said


def _make_sense(runs: Sequence[_Run]) -> None:
    """Embed what is said with the model that the gate and the keywords go by; without it, neither is asked."""
    with _timed(SENSE, runs) as open_:
        for run, vector in zip(open_, _sense([run.window.text for run in open_]), strict=False):
            run.sense = vector


def _sense(texts: Sequence[str]) -> Sequence[Vector]:
    try:
        model = registry.live_encoder() if texts else None
        return list(model.embed_documents(texts)) if model else []
    except ModelError as error:
        logger.warning("Lectures have neither gate nor keywords: %s %s", error.message, error.hint)
    except Exception:
        logger.exception("lectures have neither gate nor keywords")
    return []


def _leave_out_asides(runs: Sequence[_Run]) -> None:
    gate = registry.gate() if any(run.sense is not None for run in runs) else None
    if gate is None:
        return
    limit = conf.live_off_topic()

    def look(run: _Run) -> None:
        if run.sense is None:
            return
        run.window.off_topic = gate.off_topic(run.sense)
        if run.window.off_topic > limit:
            run.decide(Outcome.OFF_TOPIC)

    with _timed(GATE, runs) as open_:
        _each(open_, look, failing=lambda run: run.notes.append("It was not asked whether this is about the subject."))


def _find_keywords(runs: Sequence[_Run]) -> None:
    extractor = registry.keywords() if any(run.sense is not None for run in runs) else None
    for run in runs:  # timed one by one: nobody has to wait for another's
        with _timed(KEYWORDS, [run]) as open_:
            if extractor is None or run.sense is None:
                continue

            def extract(one: _Run) -> None:
                language = one.window.session.language or "en"
                one.window.keywords = extractor.extract(one.window.text, vector=one.sense, language=language, count=TERMS)

            _each(open_, extract, failing=lambda one: one.notes.append("Looked up without keywords: they could not be found."))


# What is looked for


def enriched(text: str, keywords: Sequence[str]) -> str:
    """Write “text keywords” in at most ``MOST_TOKENS`` tokens: what is too much is left out at the beginning, which the window before has told already."""
    terms = " ".join(keywords)
    room = MOST_TOKENS - _AROUND - (tokens.count(terms) if terms else 0)
    return f"{tokens.keep_end(text, most=max(room, MOST_TOKENS // 2))} {terms}".strip()


def _embed(runs: Sequence[_Run], form: Form) -> EmbeddingSpace | None:
    """Embed what is looked for in the library's space, which is returned; None where nothing is embedded yet."""
    with _timed(EMBED, runs) as open_:
        try:
            space = lock.active() if open_ else None
            if space is None:
                for run in open_:
                    run.decide(Outcome.NO_DOCUMENTS, "The documents are still being indexed.")
                return None
            for run in open_:
                run.text = enriched(run.window.text, run.window.keywords) if form is Form.ENRICHED else run.window.text
            _fill(open_, space, form)
        except KnowledgeBaseError as error:
            logger.warning("Lectures cite nothing: %s %s", error.message, error.hint)
            for run in open_:
                run.decide(Outcome.FAILED, f"{error.message} {error.hint}".strip())
            return None
        except (OperationalError, InterfaceError):
            raise
        except Exception:
            logger.exception("lectures cite nothing")
            for run in open_:
                _fail(run)
            return None
        return space


def _fill(runs: Sequence[_Run], space: EmbeddingSpace, form: Form) -> None:
    model = lock.embedder_of(space)
    if form is Form.PLAIN and model is registry.live_encoder():
        for run in runs:
            run.vector = run.sense
    missing = [run for run in runs if run.vector is None]
    for run, vector in zip(missing, _recent.vectors(model, [run.text for run in missing]), strict=True):
        run.vector = vector


class _Recent:
    """The vectors of what was looked for of late. Thread safe."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, Vector] = OrderedDict()
        self._lock = Lock()

    def vectors(self, model: Embedder, texts: Sequence[str]) -> list[Vector]:
        """Return the vectors of texts; those that are not known are made in one go."""
        keys = [(model.provider, model.model, model.dimensions, text) for text in texts]
        with self._lock:
            known = {key: self._kept[key] for key in keys if key in self._kept}
        missing = [key for key in dict.fromkeys(keys) if key not in known]
        made: Sequence[Vector] = list(model.embed_queries([key[-1] for key in missing])) if missing else []
        known |= {key: np.array(vector) for key, vector in zip(missing, made, strict=True)}  # copies: a row would keep the batch
        self._keep(known)
        return [known[key] for key in keys]

    def _keep(self, known: dict[Any, Vector]) -> None:
        with self._lock:
            for key, vector in known.items():
                self._kept[key] = vector
                self._kept.move_to_end(key)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)


_recent: Final = _Recent()


# The passages


def _look_up(run: _Run, space: EmbeddingSpace | None) -> None:
    """Find the nearest passages; stop where even the nearest is too far, else order them and choose."""
    if space is not None:
        with _timed(SEARCH, [run]) as open_:
            _each(open_, lambda one: _search(one, space), failing=_fail)
        with _timed(RERANK, [run]) as open_:
            _each(open_, lambda one: _choose(one, farthest(space)), failing=_fail)


def farthest(space: EmbeddingSpace) -> float:
    """Return the squared L2 distance beyond which a space's passages are not cited: what was calibrated, or else the setting."""
    return conf.live_distance() if space.farthest is None else space.farthest


def distance_of(cosine: float) -> float:
    """Return the squared L2 distance of two vectors of length 1: 2 − 2·cosine, 0 to 4."""
    return min(4.0, max(0.0, 2 - 2 * cosine))


def _search(run: _Run, space: EmbeddingSpace) -> None:
    assert run.vector is not None
    assert run.reach is not None
    near = vectors.search(run.vector, space=space, limit=NEAREST, reach=run.reach)
    if not near:
        run.decide(Outcome.NO_DOCUMENTS, "The documents are still being indexed.")
        return
    run.window.distance = distance_of(near[0].cosine)
    if run.window.distance > farthest(space):
        run.decide(Outcome.TOO_FAR)
        return
    rows = candidates.fetch(Scope(readable=frozenset({run.window.session.collection_id})), [one.place for one in near])
    run.near = [(rows[one.place], one.cosine) for one in near if one.place in rows]


def _choose(run: _Run, limit: float) -> None:
    """Order the passages by the cross-encoder and keep those that are relevant enough; without it by similarity, those that are near enough."""
    scores = _scores(run)
    if scores is None:
        found = [Found(one, min(1.0, max(0.0, cosine))) for one, cosine in run.near if distance_of(cosine) <= limit]
    else:
        ranked = [Found(one, score) for (one, _), score in zip(run.near, scores, strict=True) if score >= conf.live_relevance()]
        found = sorted(ranked, key=lambda one: -one.score)  # stable: equal scores stay in the order of their similarity
    run.found = found[:CITED]
    run.decide(Outcome.CITED if found else Outcome.TOO_WEAK if run.near else Outcome.TOO_FAR)


def _scores(run: _Run) -> list[float] | None:
    """Return the cross-encoder's scores, 0 to 1; None where there is none or it fails, which is noted."""
    reranker = registry.live_reranker()
    if reranker is None:
        run.notes.append(_by_similarity())
        return None
    try:
        return reranker.score(run.text, [one.indexed_text for one, _ in run.near])
    except Exception as error:
        told_ = f"{error.message} {error.hint}".rstrip() if isinstance(error, KnowledgeBaseError) else "it failed unexpectedly; the server's log says more."
        logger.warning("A window is not re-ranked: %s", told_, exc_info=not isinstance(error, KnowledgeBaseError))
        run.notes.append(f"Ordered by similarity, not re-ranked: {told_}")
        return None


def _by_similarity() -> str:
    name = conf.live_reranker()
    return "Ordered by similarity: re-ranking is off." if name == conf.NO_RERANKER else f"Ordered by similarity: {name} is not on this machine."


# Storing


def _settle(runs: Sequence[_Run]) -> None:
    """Store what is decided and not stored yet, but nothing before the windows of its session that come first: citations are told in their order."""
    waiting: set[int] = set()
    for run in runs:
        if run.outcome is None:
            waiting.add(run.window.session_id)
        elif run.result is None and run.window.session_id not in waiting:
            run.result = _stored(run)


def _stored(run: _Run) -> Cited:
    """Write what came of a window and tell of it, unless somebody else did meanwhile or it was deleted.

    The session is locked first, as by whoever speaks in it or deletes it; then what is cited, each source before its chunks, as by whoever deletes those.
    """
    started = perf_counter()
    with transaction.atomic():
        session = LectureSession.objects.select_for_update(of=("self",)).filter(pk=run.window.session_id).first()
        row = Window.objects.filter(pk=run.window.pk).first() if session else None
        if session is None or row is None:
            return Cited(window=run.window)
        if row.outcome != Outcome.WAITING:
            return Cited(window=row, citations=tuple(row.citations.select_related("source").order_by("rank")))
        citations = _citations(run, row, session)
        Citation.objects.bulk_create(citations)
        _finish(run, row, started, is_cited=bool(citations))
        cited = [told(one) for one in citations]
        about = {"window_index": row.index, "outcome": row.outcome, "note": row.note, "milliseconds": row.milliseconds}
        tell(session, [(CITATIONS, {**about, "citations": cited})])
    return Cited(window=row, citations=tuple(citations))


def _finish(run: _Run, row: Window, started: float, *, is_cited: bool) -> None:
    gone = run.outcome is Outcome.CITED and not is_cited
    now = perf_counter()
    row.outcome = Outcome.TOO_FAR if gone else run.outcome or Outcome.FAILED
    row.note = " ".join([*dict.fromkeys(run.notes), *(["What was found was deleted meanwhile."] if gone else [])])
    row.keywords, row.off_topic, row.distance = run.window.keywords, run.window.off_topic, run.window.distance
    row.stages = {**run.window.stages, STORE: round((now - started) * 1000, 3)}  # but for the commit
    row.milliseconds = round((now - run.started) * 1000, 3)
    row.finished_at = timezone.now()
    row.save(update_fields=("outcome", "note", "keywords", "off_topic", "distance", "stages", "milliseconds", "finished_at"))


def _citations(run: _Run, row: Window, session: LectureSession) -> list[Citation]:
    """Make the citations of what is still there: without the chunk where only that is gone, for the quote stands in the source's text as it was."""
    sources = {one.pk: one for one in Source.objects.raw(_SOURCES, [[one.candidate.source for one in run.found]])} if run.found else {}
    with connection.cursor() as cursor:
        cursor.execute(_CHUNKS, [[one.candidate.chunk for one in run.found]])
        chunks = {pk for (pk,) in cursor.fetchall()}
    words = " ".join([*run.window.keywords, run.window.text])
    living = [one for one in run.found if one.candidate.source in sources]
    return [
        _citation(one, Citation(session=session, window=row, window_index=row.index, rank=rank), sources, chunks, words)
        for rank, one in enumerate(living, start=1)
    ]


_SOURCES = "SELECT * FROM citations_source WHERE id = ANY(%s) ORDER BY id FOR KEY SHARE"
_CHUNKS = "SELECT id FROM citations_chunk WHERE id = ANY(%s) ORDER BY id FOR KEY SHARE"


def _citation(found: Found, citation: Citation, sources: dict[int, Source], chunks: set[int], words: str) -> Citation:
    one = found.candidate
    citation.source, citation.chunk_id = sources[one.source], one.chunk if one.chunk in chunks else None
    citation.page, citation.last_page, citation.start, citation.end = one.page, one.last_page, one.start, one.end
    citation.section_heading, citation.quote, citation.digest = one.heading, one.text, one.digest
    citation.span_start, citation.span_end = one.span_start, one.span_end
    citation.snippet, citation.relevance_score = snippet(one.text, words), found.score
    return citation


def _unstored(run: _Run) -> Cited:
    run.window.note = " ".join(dict.fromkeys(run.notes))
    run.window.milliseconds = round((perf_counter() - run.started) * 1000, 3)
    return Cited(window=run.window, is_stored=False)
