"""`kb search`: passages with their scores, and how the scores came about."""

import math
from collections.abc import Sequence
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.text import Text

from citations.passages import SearchMode, interval
from citations.schemas.search import PassageOut, SearchOut, TracedOut
from citations.stages import rule_name, stage_name
from citations.sureness import HITS, level_of
from kbsite.cli.options import Json, filtered, option
from kbsite.cli.server import chosen_library
from kbsite.cli.terminal import note, out, print_json, printable, say, table
from kbsite.library.base import Library
from transcripts.conf import absolute
from transcripts.schemas import HitOut, VideoSearchOut
from transcripts.text.timecodes import milliseconds

TERMS_SHOWN = 6
DROPPED_SHOWN = 20


@filtered
def search(
    query: Annotated[
        str, typer.Argument(help='Words, "a phrase" or -word to exclude; or a question.')
    ],
    filter: dict[str, Any],
    mode: Annotated[
        SearchMode,
        typer.Option("--mode", "-m", help="By words and meaning, by words, or by meaning."),
    ] = SearchMode.BOTH,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=50, help="At most this many passages.")
    ] = 5,
    rerank: Annotated[
        bool, typer.Option(help="Re-rank the best passages, if a cross-encoder is installed.")
    ] = True,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Explain the scores, why other hits are not listed, and how long each stage took.",
        ),
    ] = False,
    find: Annotated[
        str,
        option(
            metavar="PASSAGE",
            help="Tell what becomes of one passage: its id in --json, its link, or words of it.",
        ),
    ] = "",
    as_json: Json = False,
) -> None:
    """Search the library for passages.

    Each passage has the time it is said or its page. If --in names a recording that is not indexed
    yet, its words are searched.
    """
    with chosen_library() as library:
        if video := _unindexed(library, filter.get("sources", ())):
            segments = _search_words(library, video, query, filter, limit=limit)
            print_json(segments) if as_json else print_hits(segments)
            return
        results = library.search(
            query, mode=mode.value, limit=limit, rerank=rerank, explain=explain, find=find, **filter
        )
    if as_json:
        print_json(results)
    else:
        _print_results(results)
        if results.traced:
            _print_traced(results.traced)
        if explain and results.passages:
            _print_scores(results.passages)
            _print_dropped(results.dropped)
            _print_stages(results)
    for sentence in results.notes:
        note(sentence)


def print_hits(result: VideoSearchOut) -> None:
    """Print the hits in one video, with the query's words marked."""
    if not result.hits:
        say(f"Nothing in “{result.video.title}” answers “{result.query}”.", "dim")
    for hit in result.hits:
        times = interval(milliseconds(hit.start), milliseconds(hit.end))
        _print_text(Text(times, style="cyan"), hit)
        say("")


def _unindexed(library: Library, named: Sequence[str]) -> str:
    """Return the recording that alone is named, if none of its sources is indexed yet; else ""."""
    sources = library.list_sources(named) if len(named) == 1 else ()
    if len(named) != 1 or any(source.chunks for source in sources):
        return ""
    return next((source.video_id or "" for source in sources), named[0])


def _search_words(
    library: Library, video: str, query: str, filter: dict[str, Any], *, limit: int
) -> VideoSearchOut:
    collection, language = (
        next(iter(filter.get(name, ())), "") for name in ("collections", "languages")
    )
    result = library.search_recording(video, query, collection=collection, language=language)
    note(
        f"“{result.video.title}” is not indexed yet, so only the words of its transcript were"
        " searched. `kb sources` shows its state."
    )
    start, end = filter.get("start", 0), filter.get("end", math.inf)
    result.hits = [hit for hit in result.hits if hit.end > start and hit.start < end][:limit]
    return result


def _print_results(results: SearchOut) -> None:
    if results.suggestion:
        say(f"Did you mean “{printable(results.suggestion)}”?")
    if not results.passages:
        say(f"Nothing answers “{results.query}”.", "dim")
    elif results.nothing_relevant:
        say("Nothing in your library seems to answer this. What comes nearest:", "bold")
    by_source: dict[UUID, list[tuple[int, PassageOut]]] = {}
    for rank, passage in enumerate(results.passages, start=1):
        by_source.setdefault(passage.source_id, []).append((rank, passage))
    for ranked in by_source.values():
        first = ranked[0][1]
        about = " · ".join(filter(None, (first.channel, first.language, first.collection)))
        title = Text(printable(first.title), style="bold")
        out().print(title + Text(f"  {printable(about)}", style="dim"), soft_wrap=True)
        for rank, passage in ranked:
            _print_passage(rank, passage)


def _print_stages(results: SearchOut) -> None:
    rows = [
        (stage_name(stage.name), f"{stage.milliseconds:.1f}", stage.count or "", stage.note)
        for stage in results.stages
    ]
    title = f"Stages, {results.milliseconds:.1f} ms in all"
    table(("Stage", "ms", "Passages", ""), rows, title=title)


def _print_dropped(hits: Sequence[TracedOut]) -> None:
    columns = ("Passage", "Place", "Words", "Meaning", "RRF", "Judge", "Why not")
    rows = []
    for hit in hits[:DROPPED_SHOWN]:
        ranks = map(_rank, (hit.lexical_rank, hit.vector_rank, hit.fused_rank, hit.rank))
        rows.append((hit.title, hit.place, *ranks, rule_name(hit.rule) if hit.rule else ""))
    empty = "Every passage that was found is listed."
    table(columns, rows, title="Found, but not listed", empty=empty, main="Why not")
    if len(hits) > DROPPED_SHOWN:
        say(f"… and {len(hits) - DROPPED_SHOWN} more, which --json has.", "dim")


def _print_traced(hit: TracedOut) -> None:
    say(f"“{printable(hit.title)}” {hit.place}: {printable(hit.text)} …", "bold")
    if hit.number:
        say(f"It is number {hit.number} of the list.")
        if hit.rule:
            say(f"The page folds it away: {rule_name(hit.rule)}.")
    elif hit.rule:
        say(f"It is not listed: {rule_name(hit.rule)}.")
    places = {
        "by words": _rank(hit.lexical_rank) + _value("BM25", hit.bm25),
        "by meaning": _rank(hit.vector_rank) + _value("cosine", hit.cosine),
        "both together": _rank(hit.fused_rank),
        "by the judge": _rank(hit.rank),
    }
    say(f"Ranks: {', '.join(f'{name} {rank}' for name, rank in places.items())}.", "dim")
    if not hit.lexical_rank and not hit.vector_rank:
        say("Neither words nor meaning find it among the first thousand.", "dim")
    say("")


def _value(name: str, value: float | None) -> str:
    return "" if value is None else f" ({name} {value:.3f})"


def _print_passage(rank: int, passage: PassageOut) -> None:
    place = Text(passage.shown_place, style="cyan")
    speaker = Text(f"  {printable(passage.speaker)}" if passage.speaker else "")
    _print_text(Text(f"{rank:>2}. ") + place + speaker, passage)
    for part in passage.parts:
        say(f"    with {part.opening.place}  {part.timestamp_link}", "dim")
    for duplicate in passage.duplicates:
        say(f"    also said in “{duplicate.title}” {duplicate.place}  {duplicate.link}", "dim")
    say("")


def _print_text(heading: Text, passage: PassageOut | HitOut) -> None:
    text = Text(printable(passage.text))
    if len(text) == len(passage.text):  # else control characters were removed and spans shifted
        for start, end in passage.spans:
            text.stylize("bold yellow", start, end)
    fit = f"{passage.score:.2f}"
    if isinstance(passage, PassageOut):
        level = level_of(passage.score if passage.relevance is not None else 0.0, HITS)
        fit = level.sureness.label if level.least else ""
        fit = fit if passage.is_likely else "less likely"
    detail = "  ".join(filter(None, (fit, printable(absolute(passage.timestamp_link)))))
    out().print(heading + Text(f"  {detail}", style="dim"), soft_wrap=True)
    out().print(text, soft_wrap=not out().is_terminal)


def _print_scores(passages: Sequence[PassageOut]) -> None:
    columns = ("#", "Score", "Words", "BM25", "Meaning", "Cosine", "RRF", "Cross-encoder", "How")
    explained = [
        (rank, passage.score, passage.explanation)
        for rank, passage in enumerate(passages, start=1)
        if passage.explanation
    ]
    rows = []
    for rank, score, how in explained:
        words = (_rank(how.lexical_rank), _number(how.bm25, 3))
        meaning = (_rank(how.vector_rank), _number(how.cosine, 3))
        judged = (_number(how.rrf, 5), _number(how.rerank_score, 3), how.formula)
        rows.append((str(rank), _number(score, 3), *words, *meaning, *judged))
    table(columns, rows, title="How the scores came about", main="How")
    for rank, _, explanation in explained:
        if explanation.signs:
            strongest = sorted(explanation.signs, key=lambda sign: -abs(sign.share))
            parts = [f"{sign.name} {sign.share:+.3f}" for sign in strongest[:TERMS_SHOWN]]
            say(f"{rank:>2}. Judge: {', '.join(parts)}, …", "dim")
        if explanation.terms:
            best = sorted(explanation.terms, key=lambda term: -term.score)
            parts = []
            for term in best[:TERMS_SHOWN]:
                stem = "" if term.stem == term.term else f" ({term.stem})"
                parts.append(f"{printable(term.term + stem)} {term.score:.3f}")
            parts += ["…"] if len(best) > TERMS_SHOWN else []
            say(f"{rank:>2}. BM25 {explanation.bm25 or 0:.3f} = {' + '.join(parts)}", "dim")


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _rank(value: int | None) -> str:
    return "–" if value is None else f"#{value}"
