"""Makers of things that tests need: real rows through the real use cases."""

import json
import subprocess
import tempfile
import wave
from collections.abc import Sequence
from datetime import timedelta
from io import BytesIO
from itertools import accumulate
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Model
from django.test import Client
from django.utils import timezone
from reportlab.pdfgen.canvas import Canvas

from citations.documents import storage as document_storage
from citations.formats import FORMATS
from citations.lexical import index as lexical_index
from citations.models import Answer, Chunk, Citation, Document, EmbeddingSpace, Page, Source, State
from citations.quotes import source_texts
from citations.readers.page import Paragraph, ReadPage
from citations.vectors import space as vector_space
from citations.vectors import store as vector_store
from kbsite.models import ApiToken
from transcripts.adding import acquisition, storage
from transcripts.captions import to_vtt
from transcripts.core.access import AccessLevel
from transcripts.models import Collection, Job, Membership, Role, Video, YouTubeGate
from transcripts.text.cues import Cue

SENTENCES = (
    "Welcome to this lecture on neural networks.",
    "A network is a chain of simple functions.",
    "Backpropagation carries the error from the end to the start.",
    "Each weight moves a little against its gradient.",
    "Error 404 means that the page is missing.",
    "Now let us look at convolution and pooling.",
)
LEARNING = (
    "Networks learn from errors.",
    "An error 404 is a missing page.",
    "Errors flow back to the start.",
)
COOKING = ("Bread is baked in an oven.", "A network of bakers keeps its secrets.")


def make_cues(
    count: int = 60, *, seconds: float = 5.0, sentences: Sequence[str] = SENTENCES
) -> list[Cue]:
    """Make ``count`` cues of ``seconds`` each; sentence after sentence, numbered so that no two are
    equal.
    """
    step = int(seconds * 1000)
    return [
        Cue(start=n * step, end=(n + 1) * step, text=f"{sentences[n % len(sentences)]} Point {n}.")
        for n in range(count)
    ]


def restarting_vtt() -> bytes:
    """Write captions of two talks of a minute and a half, each with a clock of its own."""
    first, second = (
        make_cues(10, seconds=10, sentences=[f"{name} talk goes on."])
        for name in ("One", "Another")
    )
    return to_vtt([*first, *second]).encode()


def caption_json(cues: Sequence[Cue], **about: Any) -> bytes:
    """Write cues as an object of youtube-transcript-api's kind, with ``id``, ``title``, ``lang`` as
    wanted.
    """
    rows = [
        {"text": cue.text, "start": cue.start / 1000, "duration": (cue.end - cue.start) / 1000}
        for cue in cues
    ]
    return json.dumps({**about, "cues": rows}).encode()


def make_video(
    collection: Collection,
    *,
    key: str = "lecture-1",
    title: str = "Lecture 1",
    lang: str = "en",
    cues: Sequence[Cue] | None = None,
    **about: Any,
) -> Video:
    """Store a video with one transcript, as an upload would."""
    data = caption_json(
        make_cues() if cues is None else cues, id=key, title=title, lang=lang, **about
    )
    return storage.add_captions(collection, data, name=f"{key}.json", is_recorded=True).video


def make_source(
    video: Video,
    *,
    language: str = "en",
    state: str = State.READY,
    author: str = "",
    texts: Sequence[str] = (),
) -> Source:
    """Make the source of a transcript, and a chunk for each of ``texts``, of ten seconds each,
    which are found by their words.
    """
    transcript = video.transcripts.get(language=language)
    about = {
        "title": video.title,
        "author": author,
        "tags": video.tags,
        "language": language,
        "chunk_count": len(texts),
    }
    source = Source.objects.create(
        collection=video.collection,
        kind="video",
        video=video,
        transcript=transcript,
        state=state,
        **about,
    )
    spans = [*accumulate((len(text) + 1 for text in texts), initial=0)]
    with transaction.atomic():
        first = lexical_index.index(source.pk, texts)
        known = source_texts.of(source)
        for n, text in enumerate(texts):
            span = (spans[n], spans[n] + len(text))
            said = known.text[slice(*span)]
            where = {
                "span_start": span[0],
                "span_end": span[1],
                "start": n * 10_000,
                "end": (n + 1) * 10_000,
                "sentence_starts": known.sentence_starts(span) if text == said else (),
            }
            Chunk.objects.create(
                source=source, ordinal=n, position=first + n, text=text, digest=b"", **where
            )
    return source


def make_two_talks(collection: Collection) -> list[Source]:
    """Make a talk on YouTube and another one, found by their words."""
    about = (("dQw4w9WgXcQ", "Learning", "Ada", LEARNING), ("bread", "Baking", "Grace", COOKING))
    talks = [
        make_source(make_video(collection, key=key, title=title), author=author, texts=texts)
        for key, title, author, texts in about
    ]
    Video.objects.filter(key="dQw4w9WgXcQ").update(youtube_id="dQw4w9WgXcQ")
    return talks


def make_document(
    collection: Collection, texts: Sequence[str], *, title: str = "Notes", language: str = ""
) -> Source:
    """Make a source of plain text whose chunks, one for each of ``texts``, are found by their
    words.
    """
    source = Source.objects.create(
        collection=collection, kind="text", title=title, language=language, state=State.WORDS
    )
    replace_chunks(source, texts)
    return source


def make_paper(
    collection: Collection,
    pages: Sequence[Any],
    *,
    data: bytes = b"Notes on paper.",
    name: str = "paper.txt",
    title: str = "Paper",
) -> Source:
    """Make the source of a file with these pages: texts, or pages as a reader gives them.

    What is in the file is not looked at.
    """
    source = document_storage.add(collection, BytesIO(data), name=name, title=title).source
    read = [
        ReadPage(number=number, text=page, blocks=(Paragraph(0, len(page)),) if page else ())
        if isinstance(page, str)
        else page
        for number, page in enumerate(pages, start=1)
    ]
    starts = accumulate((len(page.text) + 2 for page in read), initial=0)
    rows = ((page, start) for page, start in zip(read, starts, strict=False))
    Page.objects.bulk_create(
        Page(
            document_id=source.pk,
            number=page.number,
            label=page.label,
            start=start,
            text=page.text,
            blocks=[list(block) for block in page.blocks],
        )
        for page, start in rows
    )
    Document.objects.filter(pk=source.pk).update(
        page_count=len(read), read_by=FORMATS[source.document.media_type].version
    )
    Source.objects.filter(pk=source.pk).update(state=State.READY, digest="0" * 64)
    return Source.objects.get(pk=source.pk)


def make_wav(seconds: int = 1) -> bytes:
    """Make a silent sound file that browsers play."""
    file = BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(8_000)
        sound.writeframes(b"\x80" * 8_000 * seconds)
    return file.getvalue()


def make_film(ffmpeg: str, name: str, seconds: int = 60) -> bytes:
    """Make a file of test pictures and silence with ffmpeg; the name's ending chooses the codecs:
    H.264 and AAC for ``.mp4``, VP8 and Vorbis for ``.webm``.
    """
    pictures = ("-f", "lavfi", "-i", f"testsrc=size=64x36:rate=2:duration={seconds}")
    silence = ("-f", "lavfi", "-i", f"anullsrc=duration={seconds}")
    codecs = {
        ".mp4": ("-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac"),
        ".webm": ("-c:v", "libvpx", "-c:a", "libvorbis"),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        command = [ffmpeg, "-loglevel", "error", *pictures, *silence, *codecs[path.suffix]]
        subprocess.run([*command, str(path)], check=True, timeout=60)
        return path.read_bytes()


def make_pdf(pages: Sequence[str]) -> bytes:
    """Write a PDF with a line of text on each page."""
    file = BytesIO()
    canvas = Canvas(file, pagesize=(420, 594), invariant=1)
    for text in pages:
        canvas.setFont("Times-Roman", 11)
        canvas.drawString(40, 500, text)
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def replace_chunks(source: Source, texts: Sequence[str]) -> None:
    """Give a source these chunks and no other, and index their words, in one transaction."""
    with transaction.atomic():
        source.chunks.all().delete()
        first = lexical_index.index(source.pk, texts)
        spans = [*accumulate((len(text) + 2 for text in texts), initial=0)]
        Chunk.objects.bulk_create(
            Chunk(
                source=source,
                ordinal=n,
                position=first + n,
                text=text,
                span_start=spans[n],
                span_end=spans[n] + len(text) + 1,
                digest=b"",
            )
            for n, text in enumerate(texts)
        )
        Source.objects.filter(pk=source.pk).update(chunk_count=len(texts))


def make_user(
    name: str = "ada", *, collection: Collection | None = None, role: str = Role.OWNER, **extra: Any
) -> User:
    """Make a user, a member of the collection if one is given."""
    user = User.objects.create_user(name, password="correct horse battery", **extra)
    if collection is not None:
        Membership.objects.create(collection=collection, user=user, role=role)
    return user


def done(job: Job) -> Job:
    """Do a job now, whatever the gate's pace, and return it."""
    YouTubeGate.objects.update(next_at=timezone.now() - timedelta(seconds=1))
    acquisition.perform(job.pk)
    job.refresh_from_db()
    return job


def token_client(user: User, *, access: AccessLevel = AccessLevel.MANAGE, **about: Any) -> Client:
    """Make a program that calls with a new token of the user."""
    _, text = ApiToken.issue(user, name="test", access=access, **about)
    return Client(headers={"Authorization": f"Bearer {text}"})


def signed_in(user: User | None) -> Client:
    """Return the browser of a user, or of a stranger; the CSRF token is another matter."""
    browser = Client()
    if user is not None:
        browser.force_login(user)
    return browser


def make_citation(
    answer: Answer, source: Source, quote: str, *, number: int = 1, first: int = 0, **about: Any
) -> Citation:
    """Cite words of a source in an answer, at the character ``first``."""
    place = {"span_start": first, "span_end": first + len(quote), "digest": source.digest}
    return Citation.objects.create(
        answer=answer, number=number, source=source, quote=quote, **(place | about)
    )


def embed(*sources: Source) -> EmbeddingSpace:
    """Give every chunk of sources its vector."""
    space = vector_space.claim()
    embedder = vector_space.embedder_of(space)
    for source in sources:
        wanted = vector_store.missing(space, source=source.pk)
        list(vector_store.make(space, embedder, vector_store.in_batches(wanted)))
    return space


def multiply(row: Model, count: int, **expressions: str) -> None:
    """Insert copies of a row by one statement, which takes a tenth of the time of the ORM.

    ``expressions`` are SQL for the columns that differ; ``n`` counts from 1. The copies' ids follow
    the row's own where it was just created.
    """
    columns = {
        field.column: expressions.get(field.attname, f"original.{field.column}")
        for field in row._meta.local_concrete_fields
        if not field.primary_key or field.attname in expressions
    }
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {row._meta.db_table} ({', '.join(columns)})"
            f" SELECT {', '.join(columns.values())}"
            f" FROM {row._meta.db_table} original, generate_series(1, {count}) n"
            f" WHERE original.{row._meta.pk.column} = %s",
            [row.pk],
        )
