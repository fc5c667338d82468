"""What must hold in every library, whatever was killed: statements that find what contradicts."""

from collections.abc import Callable
from typing import Any

Rows = Callable[[str], list[tuple[Any, ...]]]

UNFINISHED = {
    "jobs": "SELECT target FROM transcripts_job WHERE state IN ('queued', 'running')",
    "sources": "SELECT title, state, step FROM citations_source"
    " WHERE state IN ('pending', 'words')",
    "transcripts without a source": "SELECT t.id FROM transcripts_transcript t"
    " LEFT JOIN citations_source s ON s.transcript_id = t.id WHERE s.id IS NULL",
    "migrations": "SELECT model FROM citations_embeddingspace WHERE state = 'building'",
    "windows of lectures": "SELECT session_id, index FROM citations_window"
    " WHERE outcome = 'waiting'",
}
WRONG = {
    "failed jobs": "SELECT target, error FROM transcripts_job WHERE state = 'failed'",
    "jobs with problems": "SELECT target, problems FROM transcripts_job WHERE problems <> '[]'",
    "files of ended jobs": "SELECT f.name FROM transcripts_jobfile f"
    " JOIN transcripts_job j ON j.id = f.job_id WHERE j.state = 'done'",
    "failed sources": "SELECT title, error FROM citations_source"
    " WHERE state = 'failed' OR error <> ''",
    "documents without all of their bytes": "SELECT d.name FROM citations_document d"
    " LEFT JOIN citations_documentpart p ON p.document_id = d.source_id"
    " GROUP BY d.source_id HAVING coalesce(sum(octet_length(p.data)), 0) <> d.size",
    "documents without all of their pages": "SELECT d.name FROM citations_document d"
    " LEFT JOIN citations_page p ON p.document_id = d.source_id"
    " GROUP BY d.source_id HAVING count(p.id) <> d.page_count OR d.read_by = ''",
    "documents with a note": "SELECT name, note FROM citations_document WHERE note <> ''",
    "Markdown without its headings": "SELECT s.title FROM citations_source s"
    " LEFT JOIN citations_chunk c ON c.source_id = s.id AND c.heading <> ''"
    " WHERE s.kind = 'markdown' GROUP BY s.id HAVING count(c.id) = 0",
    "sources with another number of chunks": "SELECT s.title FROM citations_source s"
    " LEFT JOIN citations_chunk c ON c.source_id = s.id"
    " GROUP BY s.id HAVING count(c.id) <> s.chunk_count OR count(c.id) = 0",
    "chunks without exactly one vector": "SELECT c.id FROM citations_chunk c"
    " LEFT JOIN citations_embedding e ON e.chunk_id = c.id AND e.digest = c.digest"
    " AND e.space_id IN (SELECT id FROM citations_embeddingspace WHERE state = 'active')"
    " GROUP BY c.id HAVING count(e.id) <> 1",
    "vectors without a chunk": "SELECT e.id FROM citations_embedding e"
    " LEFT JOIN citations_chunk c ON c.id = e.chunk_id WHERE c.id IS NULL",
    "chunks without a place in the lexicon": "SELECT c.id FROM citations_chunk c"
    " LEFT JOIN citations_lexentry l ON l.source_id = c.source_id"
    " AND c.position BETWEEN l.first AND l.first + l.count - 1 WHERE l.id IS NULL",
    "entries of the lexicon with another number of chunks": "SELECT l.id FROM citations_lexentry l"
    " LEFT JOIN citations_chunk c ON c.source_id = l.source_id WHERE l.source_id IS NOT NULL"
    " GROUP BY l.id HAVING count(c.id) <> l.count",
    "failed windows": "SELECT session_id, index, note FROM citations_window"
    " WHERE outcome = 'failed'",
    "lectures with missing windows or events": "SELECT s.id FROM citations_lecturesession s"
    " WHERE s.window_count <> (SELECT count(*) FROM citations_window w WHERE w.session_id = s.id)"
    " OR s.event_count <> (SELECT count(*) FROM citations_lectureevent e"
    " WHERE e.session_id = s.id)",
}


def unfinished(rows: Rows) -> dict[str, list[tuple[Any, ...]]]:
    """Return the work that has not ended."""
    return {what: faulty for what, sql in UNFINISHED.items() if (faulty := rows(sql))}


def contradictions(rows: Rows) -> dict[str, list[tuple[Any, ...]]]:
    """Return what is wrong in a library in which all work has ended; nothing if all is well."""
    return {what: faulty for what, sql in WRONG.items() if (faulty := rows(sql))}
