"""Compare search by words over a whole library: this project's lexicon, and PostgreSQL's full text
search.

Run ``python bench/lexical.py 10000 100000`` (numbers of segments) from the repository;
``--queries``, ``--seed`` for others. A million segments take an hour.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

from harness.environment import arguments, boot, command, machine

boot()

from django.db import connection, transaction
from harness.large import OF_A_SOURCE, halves, vacuum
from harness.report import publish, ratio, spread, table
from harness.sets import SPEECH, said
from harness.turns import clocked, in_turn, timed

from citations.lexical import index as lexical_index
from citations.lexical import merging
from citations.lexical.query import Query
from citations.library.filters import Filter, ResolvedFilter, resolve
from citations.models import Source
from transcripts.core.scope import Scope
from transcripts.models import Collection
from transcripts.text.stemming import stems
from transcripts.text.tokenizer import tokenize

LIMIT: Final = 10
SEGMENT_WORDS: Final = 80  # about 500 characters
QUERY_WORDS: Final = (1, 3, 6)
EVERYWHERE: Final = ResolvedFilter(sources=None, chunks=1)
TABLES: Final = ("citations_lexblock", "citations_lexpack", "citations_lexentry")
WAYS: Final = ("lexicon", "half of it readable", "ts_rank_cd, any word", "ts_rank_cd, all words")


def main() -> None:
    options = arguments(__doc__, queries=100, seed=1, sizes=[10_000, 100_000])
    library = Library()
    times: list[Sequence[object]] = []
    sizes: list[Sequence[object]] = []
    for size in sorted(options.sizes):
        sizes.append((size, *library.grow(size)))
        for words in QUERY_WORDS:
            queries = library.queries(words, options.queries, random.Random(options.seed))
            measured = in_turn(library.ways, queries, warm=1)
            cells = (
                f"{spread(measured[name], 2)} ({ratio(measured[name], measured[WAYS[0]])})"
                for name in WAYS
            )
            times.append((size, words, *cells))
    publish(
        "Search by words over a library",
        f"{command()}: milliseconds, median / 95th percentile (× the median of this project's"
        f" lexicon), top {LIMIT}, of queries not asked before: one or three content words of a"
        " segment, or six neighbouring words with all their stop words. Segments are"
        f" {SEGMENT_WORDS} words of real talks in random order; beyond the {len(library.real):,}"
        " there are, each is half of one and half of another, with rare words of its own."
        f" PostgreSQL is the embedded one, with its standard settings; {machine()}. *Half of it*:"
        " for a member of one of two collections, with the statistics of that one; it includes"
        " finding out what they may read. Both hold the same stems. `ts_rank_cd` is asked for"
        " chunks with any of the words, which is what BM25 ranks, and for chunks with all of them.",
        table(("segments", "words", *WAYS), times, left=2),
        table(
            (
                *("segments", "lexicon built in s (from the size before)", "ts_rank_cd"),
                *("lexicon on disk, MB", "ts_rank_cd"),
            ),
            sizes,
        ),
    )


class Corpus:
    """Segments by number: first the real ones; after them new ones, each of half of one real
    segment and half of another.

    Rare words are other words in every round through the real segments, since a library that grows
    says ever new ones.
    """

    def __init__(self) -> None:
        self.real = [
            " ".join(words[start : start + SEGMENT_WORDS])
            for folder in sorted(SPEECH.iterdir())
            if "_" not in folder.name  # the others are translations
            for words in (said(path).split() for path in sorted(folder.glob("*.json")))
            for start in range(0, len(words), SEGMENT_WORDS)
        ]
        random.Random(0).shuffle(self.real)
        self._spread = Counter(token for text in self.real for token in {*tokenize(text)})

    def text(self, number: int) -> str:
        if number < len(self.real):
            return self.real[number]
        turn, chance = number // len(self.real), random.Random(number)
        words = halves(chance.choice(self.real), chance.choice(self.real)).split()
        rare = (f"{word}{turn}" if self._spread[word.lower()] in (1, 2) else word for word in words)
        return " ".join(rare)


class Library(Corpus):
    """The same segments in both indexes, as many as it was last grown to."""

    def __init__(self) -> None:
        super().__init__()
        self._texts: list[str] = []
        with connection.cursor() as cursor:
            cursor.execute("CREATE TABLE fts (id bigint PRIMARY KEY, words tsvector)")
        self._halves = [
            Collection.objects.create(name=f"Bench {half}", slug=f"bench-{half}") for half in (1, 2)
        ]
        reader = Scope(readable=frozenset({self._halves[0].pk}))
        calls: tuple[Callable[[str], object], ...] = (
            ask_lexicon,
            partial(ask_lexicon, scope=reader),
            partial(ask_fts, operator=" | "),
            partial(ask_fts, operator=" & "),
        )
        self.ways = [clocked(name, call) for name, call in zip(WAYS, calls, strict=True)]

    def grow(self, size: int) -> Iterator[str]:
        """Add segments to both indexes; yield the seconds of each, and then its megabytes."""
        start = len(self._texts)
        self._texts += (self.text(number) for number in range(start, size))
        for fill in (self._fill_lexicon, self._fill_fts):
            yield f"{timed(partial(fill, start)) / 1000:.1f}"
        yield f"{relation_size(*TABLES) / 1e6:,.1f}"
        yield f"{relation_size('fts') / 1e6:,.1f}"

    def queries(self, words: int, count: int, chance: random.Random) -> Iterator[str]:
        """Yield queries: one or three words of five or more letters from a segment, or six
        neighbouring words with all their stop words; one more, which warms up.
        """
        while count >= 0:
            tokens = tokenize(chance.choice(self._texts[:20_000]))
            content = sorted({token for token in tokens if len(token) >= 5})
            if len(tokens) < 6 or len(content) < words < 6:
                continue
            start = chance.randrange(len(tokens) - 5)
            own = tokens[start : start + 6] if words == 6 else chance.sample(content, words)
            yield " ".join(own)
            count -= 1

    def _fill_lexicon(self, start: int) -> None:
        """Index the segments from there on, a hundred a source."""
        for first in range(start, len(self._texts), OF_A_SOURCE):
            texts = self._texts[first : first + OF_A_SOURCE]
            with transaction.atomic():
                source = Source.objects.create(
                    collection=self._halves[first // OF_A_SOURCE % 2],
                    kind="text",
                    title=f"From {first}",
                    chunk_count=len(texts),
                )
                lexical_index.index(source.pk, texts)
            if first % 65_536 < OF_A_SOURCE:
                merging.merge(spare=2 * merging.SPARE)
        merging.merge(spare=0)
        vacuum(*TABLES)

    def _fill_fts(self, start: int) -> None:
        with connection.cursor() as cursor:
            cursor.execute("DROP INDEX IF EXISTS fts_words")
            with cursor.copy("COPY fts FROM STDIN") as copy:
                for number, text in enumerate(self._texts[start:], start):
                    copy.write_row((number, tsvector(text)))
            cursor.execute("CREATE INDEX fts_words ON fts USING gin (words)")
        vacuum("fts")


def ask_lexicon(query: str, scope: Scope | None = None) -> object:
    """Search as the project does, for somebody who may read the scope (None: everything)."""
    resolved = resolve(scope, Filter()) if scope else EVERYWHERE
    return lexical_index.search(Query(text=query, words=query), limit=LIMIT, resolved=resolved)


def ask_fts(query: str, *, operator: str) -> object:
    """Rank with PostgreSQL's full text search."""
    with connection.cursor() as cursor:
        words = operator.join(f"'{stem}'" for stem in stems(tokenize(query), "en"))
        cursor.execute(
            "SELECT id, ts_rank_cd(words, query) AS score FROM fts, CAST(%s AS tsquery) AS"
            " query WHERE words @@ query ORDER BY score DESC LIMIT %s",
            [words, LIMIT],
        )
        return cursor.fetchall()


def relation_size(*tables: str) -> int:
    """Return the bytes of tables with their indexes."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT sum(pg_total_relation_size(name::regclass)) FROM unnest(%s::text[]) AS name",
            [[*tables]],
        )
        return int(cursor.fetchone()[0])


def tsvector(text: str) -> str:
    """Write the stems of a text with their positions as PostgreSQL's type for them."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, stem in enumerate(stems(tokenize(text), "en"), 1):
        places[stem].append(place)
    words = (f"'{stem}':{','.join(map(str, own))}" for stem, own in places.items())
    return " ".join(words).replace("\\", "")


if __name__ == "__main__":
    main()
