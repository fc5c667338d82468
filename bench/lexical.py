"""Compare search by words over a whole library: this project's lexicon, PostgreSQL's full text
search, tantivy and bm25s.

Run ``python bench/lexical.py 10000 100000`` (numbers of segments) from the repository; ``--queries
N`` for more queries, ``--seed N`` for others. It prints tables, writes them into
``bench/RESULTS.md``, and draws how time and size grow into ``docs/images``. The rivals take turns
query by query, so that a busy moment of the machine hits them alike. Real transcripts come from
``CUEBASE_DATA`` (default: ``../shared/data`` beside the repository); without them the text is
generated. The database is an embedded one of its own, in a temporary folder.
"""

import argparse
import json
import os
import random
import shlex
import statistics
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from environment import DATA, HOME, ROOT, boot

boot()

import bm25s
import tantivy
from bm25 import generated, installed, make_queries, percentile, stemmed, timed, write
from django.db import connection, transaction
from growth import Line, draw

from citations.caches import CACHE
from citations.lexical import index as lexical_index
from citations.lexical import merging
from citations.lexical.query import Query
from citations.library.filters import Filter, ResolvedFilter, resolve
from citations.models import Source
from transcripts.core.scope import Scope
from transcripts.models import Collection
from transcripts.text.tokenizer import tokenize

LIMIT = 10
OF_A_SOURCE = 100  # segments
SEGMENT_WORDS = 80  # about 500 characters
QUERY_WORDS = (1, 3, 6)
ABOUT = (
    "Segments are 80 words of real talks in random order; beyond the 13,000 there are, each"
    " is half of one and half of another, with rare words of its own. "
)
DELETED = 33  # sources: one more than the tombstones that wait for a merge
PATIENCE = 60.0  # seconds that one rival may take for the queries of one setting
EVERYWHERE = ResolvedFilter(sources=None, chunks=1)
Search = Callable[[str], object]


def main() -> None:
    """Measure, print, and replace this benchmark's section of the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "sizes",
        type=int,
        nargs="*",
        default=[10_000, 100_000],
        help="numbers of segments, ascending",
    )
    parser.add_argument("--queries", type=int, default=100, help="of each kind (default 100)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--deletions",
        type=int,
        metavar="SEGMENTS",
        help=f"only measure what deleting {DELETED} sources writes",
    )
    parser.add_argument("--memory", choices=["lexicon", "tantivy", "bm25s"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory:
        print(memory(options.memory, json.loads(sys.stdin.read())))
        return
    library = Library()
    if options.deletions:
        report = deletions(library, options.deletions)
        print(report)
        write(report)
        return
    for size in sorted(options.sizes):
        library.grow(size)
        library.measure(options.queries, options.seed)
    report = section(library)
    print(report)
    write(report)
    plot(library)


# What is compared


class Library:
    """The same segments in every index, as many as it was last grown to."""

    def __init__(self) -> None:
        self.corpus = Corpus()
        self.texts: list[str] = []
        self.tokens: list[list[str]] = []
        self.results: dict[int, Results] = {}
        with connection.cursor() as cursor:
            cursor.execute("CREATE TABLE fts (id bigint PRIMARY KEY, words tsvector)")
        self.collections = [
            Collection.objects.create(name=f"Bench {half}", slug=f"bench-{half}") for half in (1, 2)
        ]
        self.reader = Scope(readable=frozenset({self.collections[0].pk}))

    def grow(self, size: int) -> None:
        """Add segments to every index, and note how long that takes."""
        start = len(self.texts)
        new = [self.corpus.text(number) for number in range(start, size)]
        self.texts += new
        self.tokens += (
            [*map(sys.intern, stemmed(text))] for text in new
        )  # a million segments hold each word once
        self.results[size] = results = Results()
        steps = {
            "lexicon": self.index,
            "ts_rank_cd": self._fts,
            "tantivy": self._tantivy,
            "bm25s": self._bm25s,
        }
        for name, step in steps.items():
            results.build[name] = timed(partial(step, start)) / 1000
        results.size = {
            "lexicon": relation_size("citations_lexblock", "citations_lexpack"),
            "entries": relation_size("citations_lexentry"),
            "ts_rank_cd": relation_size("fts"),
            "tantivy": folder_size(Path(HOME, "tantivy")),
            "bm25s": folder_size(Path(HOME, "bm25s")),
        }

    def measure(self, count: int, seed: int) -> None:
        """Ask every rival the same queries in turn."""
        results = self.results[len(self.texts)]
        CACHE.clear()
        searches = self.searches()
        for words in QUERY_WORDS:
            sample = random.Random(seed).sample(self.texts, min(len(self.texts), 20_000))
            results.times[words] = ask(
                searches, make_queries(sample, words, source=random.Random(seed), count=count)
            )
        results.kept = CACHE.nbytes
        queries = make_queries(self.texts[:20_000], 3, source=random.Random(seed), count=count)
        for name in ("lexicon", "tantivy", "bm25s"):
            results.memory[name] = child(name, queries)

    def searches(self) -> dict[str, Search]:
        """Return how each rival is asked; bm25s in the two ways it offers."""
        index = tantivy.Index.open(str(Path(HOME, "tantivy")))
        slow, fast = (bm25s.BM25.load(str(Path(HOME, "bm25s"))) for _ in range(2))
        fast.backend = "numba"
        fast.activate_numba_scorer()
        return {
            "lexicon": ask_lexicon,
            "lexicon, half of it readable": partial(ask_lexicon, scope=self.reader),
            "ts_rank_cd, any word": partial(ask_fts, operator=" | "),
            "ts_rank_cd, all words": partial(ask_fts, operator=" & "),
            "tantivy": partial(ask_tantivy, index),
            "bm25s numba": partial(ask_bm25s, fast),
            "bm25s numpy": partial(ask_bm25s, slow),
        }

    def index(self, start: int) -> None:
        """Index the segments from there on, a hundred a source."""
        for first in range(start, len(self.texts), OF_A_SOURCE):
            texts = self.texts[first : first + OF_A_SOURCE]
            with transaction.atomic():
                source = Source.objects.create(
                    collection=self.collections[first // OF_A_SOURCE % 2],
                    kind="text",
                    title=f"From {first}",
                    chunk_count=len(texts),
                )
                lexical_index.index(source.pk, texts)
            if first % 65_536 < OF_A_SOURCE:
                merging.merge(spare=2 * merging.SPARE)
        merging.merge(spare=0)
        vacuum("citations_lexblock", "citations_lexpack", "citations_lexentry")

    def _fts(self, start: int) -> None:
        with connection.cursor() as cursor:
            cursor.execute("DROP INDEX IF EXISTS fts_words")
            with cursor.copy("COPY fts FROM STDIN") as copy:
                for number, tokens in enumerate(self.tokens[start:], start):
                    copy.write_row((number, tsvector(tokens)))
            cursor.execute("CREATE INDEX fts_words ON fts USING gin (words)")
        vacuum("fts")

    def _tantivy(self, start: int) -> None:
        Path(HOME, "tantivy").mkdir(exist_ok=True)
        schema = (
            tantivy.SchemaBuilder()
            .add_unsigned_field("id", stored=True)
            .add_text_field("words", tokenizer_name="whitespace")
            .build()
        )
        index = tantivy.Index(schema, path=str(Path(HOME, "tantivy")))
        writer = index.writer(256 << 20, 1)
        for number, tokens in enumerate(self.tokens[start:], start):
            writer.add_document(tantivy.Document(id=number, words=" ".join(tokens)))
        writer.commit()
        writer.wait_merging_threads()

    def _bm25s(self, start: int) -> None:
        """Build it anew, since it cannot be added to."""
        index = bm25s.BM25(k1=1.5, b=0.75, method="lucene")
        index.index(self.tokens, show_progress=False)
        index.save(str(Path(HOME, "bm25s")))


def ask_lexicon(query: str, scope: Scope | None = None) -> object:
    """Search as the project does, for somebody who may read the scope (None: everything)."""
    resolved = resolve(scope, Filter()) if scope else EVERYWHERE
    return lexical_index.search(Query(text=query, words=query), limit=LIMIT, resolved=resolved)


def ask_fts(query: str, *, operator: str) -> object:
    """Rank with PostgreSQL's full text search."""
    with connection.cursor() as cursor:
        words = operator.join(f"'{word}'" for word in stemmed(query))
        cursor.execute(
            "SELECT id, ts_rank_cd(words, query) AS score FROM fts, CAST(%s AS tsquery) AS"
            " query WHERE words @@ query ORDER BY score DESC LIMIT %s",
            [words, LIMIT],
        )
        return cursor.fetchall()


def ask_tantivy(index: tantivy.Index, query: str) -> object:
    """Search with tantivy and read the ids."""
    searcher = index.searcher()
    hits = searcher.search(index.parse_query(" ".join(stemmed(query)), ["words"]), LIMIT).hits
    return [(searcher.doc(address)["id"], score) for score, address in hits]


def ask_bm25s(index: bm25s.BM25, query: str) -> object:
    """Search with bm25s."""
    return index.retrieve([stemmed(query)], k=LIMIT, show_progress=False)


# Text


class Corpus:
    """Segments by number: first the real ones; after them new ones, each of half of one real
    segment and half of another.

    Rare words are other words in every round through the real segments, since a library that grows
    says ever new ones.
    """

    def __init__(self) -> None:
        self.real = [
            " ".join(words)
            for text in real_texts()
            for words in slices(text.split(), SEGMENT_WORDS)
        ]
        random.Random(0).shuffle(self.real)
        self.spread = Counter(token for text in self.real for token in {*tokenize(text)})

    def text(self, number: int) -> str:
        """Return a segment."""
        if number < len(self.real):
            return self.real[number]
        turn, source = number // len(self.real), random.Random(number)
        first, second = source.choice(self.real).split(), source.choice(self.real).split()
        words = first[: len(first) // 2] + second[len(second) // 2 :]
        return " ".join(
            f"{word}{turn}" if self.spread[word.lower()] in (1, 2) else word for word in words
        )


def real_texts() -> list[str]:
    """Read the real English transcripts, or generate text."""
    paths = sorted((DATA / "dev" / "transcripts").glob("*/*.json"))
    transcripts = [json.loads(path.read_text()) for path in paths]
    return [
        " ".join(cue["text"] for cue in data["cues"])
        for data in transcripts
        if data["lang"].startswith("en")
    ] or generated(10_000)


def slices(words: list[str], count: int) -> Iterator[list[str]]:
    """Cut words into pieces."""
    return (words[start : start + count] for start in range(0, len(words), count))


# Measuring


@dataclass
class Results:
    """What was measured at one size: seconds to build, bytes on disk, milliseconds of each query,
    bytes of memory.
    """

    build: dict[str, float] = field(default_factory=dict)
    size: dict[str, int] = field(default_factory=dict)
    times: dict[int, dict[str, list[float]]] = field(default_factory=dict)
    memory: dict[str, int] = field(default_factory=dict)
    kept: int = 0


def ask(searches: dict[str, Search], queries: Sequence[str]) -> dict[str, list[float]]:
    """Time each query with each rival, in changing order; who has had more than its time stops."""
    times: dict[str, list[float]] = {name: [] for name in searches}
    for search in searches.values():
        search(queries[0])
    for turn, query in enumerate(queries[1:]):
        order = [name for name in searches if sum(times[name]) < PATIENCE * 1000]
        random.Random(turn).shuffle(order)
        for name in order:
            times[name].append(timed(partial(searches[name], query)))
    return times


def child(name: str, queries: Sequence[str]) -> int:
    """Return the bytes by which a process of its own grows when it opens an index and asks."""
    command = [sys.executable, __file__, "--memory", name]
    process = subprocess.run(
        command,
        input=json.dumps(queries),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "CUEBASE_BENCH_HOME": HOME},
    )
    return int(process.stdout.split()[-1])


def memory(name: str, queries: Sequence[str]) -> int:
    """Open an index, ask, and return by how many bytes the process has grown."""
    ask_lexicon("x")
    before = resident()
    search: Search
    if name == "lexicon":
        search = ask_lexicon
    elif name == "tantivy":
        search = partial(ask_tantivy, tantivy.Index.open(str(Path(HOME, "tantivy"))))
    else:
        search = partial(ask_bm25s, bm25s.BM25.load(str(Path(HOME, "bm25s"))))
    for query in queries:
        search(query)
    return resident() - before


def resident() -> int:
    """Return the bytes of memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def relation_size(*tables: str) -> int:
    """Return the bytes of tables with their indexes."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT sum(pg_total_relation_size(name::regclass)) FROM unnest(%s::text[]) AS name",
            [[*tables]],
        )
        return int(cursor.fetchone()[0])


def folder_size(folder: Path) -> int:
    """Return the bytes of a folder's files."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def vacuum(*tables: str) -> None:
    """Tidy tables up, as autovacuum does in time."""
    with connection.cursor() as cursor:
        cursor.execute(f"VACUUM (ANALYZE) {', '.join(tables)}")


def tsvector(tokens: Sequence[str]) -> str:
    """Write tokens with their positions as PostgreSQL's type for them."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, token in enumerate(tokens, 1):
        places[token].append(place)
    return " ".join(
        f"'{token}':{','.join(map(str, positions))}" for token, positions in places.items()
    ).replace("\\", "")


# Deleting


def deletions(library: Library, size: int) -> str:
    """Delete scattered sources, and write the section on what that writes."""
    library.texts = [library.corpus.text(number) for number in range(size)]
    library.index(0)
    tables = ("citations_lexblock", "citations_lexpack")
    before = relation_size(*tables)
    keys = list(Source.objects.order_by("pk").values_list("pk", flat=True))
    chosen = keys[:: max(1, len(keys) // DELETED)][:DELETED]
    start = write_ahead("CHECKPOINT")
    Source.objects.filter(pk__in=chosen).delete()
    deleted = write_ahead()
    seconds = timed(merging.merge) / 1000
    merged = write_ahead()
    cells = [before, relation_size(*tables), deleted - start, merged - deleted]
    lines = [
        "## Deleting from the index of words",
        "",
        f"`python {shlex.join(['bench/lexical.py', *sys.argv[1:]])}`: {DELETED} sources of"
        f" {OF_A_SOURCE} segments, spread evenly over {size:,}, are deleted and swept by a merge."
        " The log is PostgreSQL's write-ahead log after a checkpoint. The sources have neither"
        " chunks nor vectors here.",
        "",
        "| index, MB | afterwards | log of the deletions, MB | of the merge | merge, s |",
        "|---:|---:|---:|---:|---:|",
        f"| {' | '.join(f'{cell / 1e6:.2f}' for cell in cells)} | {seconds:.3f} |",
    ]
    return "\n".join(lines)


def write_ahead(before: str = "") -> int:
    """Return how many bytes of log the server has written so far."""
    with connection.cursor() as cursor:
        if before:
            cursor.execute(before)
        cursor.execute("SELECT pg_current_wal_lsn() - '0/0'")
        return int(cursor.fetchone()[0])


# Results


def section(library: Library) -> str:
    """Write the section of the results."""
    packages = ", ".join(
        f"{name} {installed(name)}" for name in ("tantivy", "bm25s", "numba", "numpy")
    )
    lines = [
        "## Search by words over a library",
        "",
        f"`python {shlex.join(['bench/lexical.py', *sys.argv[1:]])}`: milliseconds, median /"
        f" 95th percentile (× the median of this project's lexicon), top"
        f" {LIMIT}, of queries not asked before: one or three content words of a segment, or"
        f" six neighbouring words with all their stop words.",
        f"{ABOUT}PostgreSQL is the embedded one, with its standard settings; {packages};"
        f" {os.cpu_count()} cores.",
        "*Half of it readable*: for a member of one of two collections, with the statistics of that"
        " one; it includes finding out what they may read. The lexicon and PostgreSQL's full text"
        " search answer over a socket; tantivy and bm25s live in the asking process. All hold the"
        " same stems.",
        "`ts_rank_cd` is asked for chunks with any of the words, which is what BM25 ranks, and"
        " for chunks with all of them.",
        "",
        *speed(library),
        "",
        *sizes(library),
        "",
    ]
    return "\n".join(lines)


def speed(library: Library) -> Iterator[str]:
    """Write the table of times."""
    names = list(library.searches())
    yield "| segments | words | " + " | ".join(names) + " |"
    yield "|---|---|" + "---:|" * len(names)
    for size, results in library.results.items():
        for words, times in results.times.items():
            ground = statistics.median(times["lexicon"])
            cells = [
                f"{statistics.median(times[name]):.2f} / {percentile(times[name]):.2f}"
                f" (×{statistics.median(times[name]) / ground:.1f})"
                for name in names
            ]
            yield f"| {size:,} | {words} | " + " | ".join(cells) + " |"


def sizes(library: Library) -> Iterator[str]:
    """Write the table of sizes and building times."""
    yield "| segments | | lexicon | ts_rank_cd | tantivy | bm25s |"
    yield "|---|---|---:|---:|---:|---:|"
    names = ("lexicon", "ts_rank_cd", "tantivy", "bm25s")
    for size, results in library.results.items():
        yield (
            f"| {size:,} | built in s (from the size before; bm25s anew) | "
            + " | ".join(f"{results.build[name]:.1f}" for name in names)
            + " |"
        )
        cells = [
            f"{megabytes(results.size[name])}"
            + (f" + {megabytes(results.size['entries'])} of entries" if name == "lexicon" else "")
            for name in names
        ]
        yield f"| {size:,} | on disk, MB | " + " | ".join(cells) + " |"
        cells = [
            megabytes(results.memory[name]) if name in results.memory else "–" for name in names
        ]
        yield f"| {size:,} | in memory, MB | " + " | ".join(cells) + " |"


def megabytes(count: int) -> str:
    """Write bytes as megabytes."""
    return f"{count / 1e6:,.1f}"


def plot(library: Library) -> None:
    """Draw how the times and the sizes grow."""
    results = library.results
    if len(results) < 2:
        return
    folder = ROOT / "docs" / "images"
    rivals = ["lexicon", "ts_rank_cd, any word", "tantivy", "bm25s numba", "bm25s numpy"]
    lines = [
        Line(
            name,
            [(size, statistics.median(result.times[3][name])) for size, result in results.items()],
        )
        for name in rivals
    ]
    draw(
        folder / "lexical-latency.svg",
        lines,
        title="Three words: median time of a query",
        unit="ms",
        across="segments",
    )
    sizes = {
        "lexicon": ("lexicon", "entries"),
        **{name: (name,) for name in ("ts_rank_cd", "tantivy", "bm25s")},
    }
    lines = [
        Line(
            name,
            [
                (size, sum(result.size[part] for part in parts) / 1e6)
                for size, result in results.items()
            ],
        )
        for name, parts in sizes.items()
    ]
    draw(folder / "lexical-size.svg", lines, title="Index on disk", unit="MB", across="segments")


if __name__ == "__main__":
    main()
