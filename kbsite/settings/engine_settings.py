"""Settings of the knowledge engine: transcripts, models, documents, lectures and YouTube."""

from django.core.exceptions import ImproperlyConfigured

from kbsite.settings.options import OPTIONS, option

# Transcripts

CHUNK_SIZE_SECONDS = option(
    "CHUNK_SIZE_SECONDS", 300, "Length of a time chunk.", least=10, most=86_400
)
PREVIEW_LENGTH = option(
    "PREVIEW_LENGTH", 500, "Characters in the preview of a transcript that is too long.", least=1
)
MAX_FULL_TRANSCRIPT_LENGTH = option(
    "MAX_FULL_TRANSCRIPT_LENGTH",
    50_000,
    "Up to this number of characters, a transcript is shown whole.",
)
SEARCH_SEGMENT_SECONDS = option(
    "SEARCH_SEGMENT_SECONDS",
    30,
    "Length of the segments that a search within a recording ranks.",
    least=1,
    most=86_400,
)

# Chunks

CHUNK_SIZE = option(
    "CHUNK_SIZE",
    500,
    "Usual length of a passage in characters. After a change, run `kb db reindex`.",
    least=100,
    most=5_000,
)
CHUNK_OVERLAP = option(
    "CHUNK_OVERLAP", 150, "Characters that a passage shares with the previous one."
)
CHUNKING = option(
    "CHUNKING",
    "subjects",
    "Where passages end: `subjects` at the sentence at which the subject changes, `sentences` at "
    "that which is nearest to their usual length. After a change, run `kb db reindex`.",
    among=("subjects", "sentences"),
)
CHUNK_PERCENTILE = option(
    "CHUNK_PERCENTILE",
    80.0,
    "Percentile of the distances between sentences above which the subject changes; "
    "lower: more cuts.",
    most=100,
)
ADD_FULL_STOPS = option(
    "ADD_FULL_STOPS",
    True,
    "Add full stops and question marks to English captions that have few or none, with a small "
    "built-in model. Words stay unchanged.",
)
if CHUNK_OVERLAP >= CHUNK_SIZE:
    raise OPTIONS["CHUNK_OVERLAP"].refusal(CHUNK_OVERLAP, f"less than CHUNK_SIZE ({CHUNK_SIZE})")

# Search

BM25_K1 = option(
    "BM25_K1",
    1.5,
    "Search by words: how much the second and later occurrences of a word add.",
    most=2,  # more would overflow the packed scores of ``transcripts.text.bm25``
)
BM25_B = option(
    "BM25_B", 0.75, "Search by words: how much long passages are penalised; 0: not at all.", most=1
)
TRANSCRIPT_WORD_FORMS = option(
    "TRANSCRIPT_WORD_FORMS",
    True,
    "Search within one transcript: find other forms of a word, too: by its stem, without accents, "
    "joined or in parts. Off: words as they are typed, ranked by plain BM25.",
)
SEARCH_CANDIDATES = option(
    "SEARCH_CANDIDATES",
    50,
    "Candidates by words and by meaning for ten results; more in proportion.",
    least=10,
    most=500,
)
RRF_K = option(
    "RRF_K",
    60,
    "K of reciprocal rank fusion, 1 / (K + rank); a small K favours the first ranks.",
    least=1,
    most=10_000,
)
DUPLICATE_SIMILARITY = option(
    "DUPLICATE_SIMILARITY",
    0.9,
    "Share of common words (Jaccard) from which passages count as near-duplicates.",
    most=1,
)

# Embeddings and re-ranking

EMBEDDING_PROVIDER = option(
    "EMBEDDING_PROVIDER",
    "local",
    "Embedding provider: local, voyage, openai, e5-small, bge, bge-base or ollama. "
    "The first source that is indexed locks the library to it.",
)
EMBEDDING_MODEL = option(
    "EMBEDDING_MODEL", "", "A model of that provider, by name or folder; empty: its default."
)
EMBEDDING_DIMENSIONS = option(
    "EMBEDDING_DIMENSIONS",
    0,
    "Vector length of a remote model unknown to Cuebase; 0: as known.",
    most=4_000,
)
MODEL_THREADS = option(
    "MODEL_THREADS",
    2,
    "Threads per call of a local model: 1 for throughput, more for latency.",
    least=1,
    most=64,
)
MODEL_IDLE_SECONDS = option(
    "MODEL_IDLE_SECONDS",
    300.0,
    "Seconds after which an unused local model is unloaded; loading takes a second. 0: never.",
)
RERANKER = option(
    "RERANKER",
    "cross-encoder/ms-marco-MiniLM-L-12-v2",
    "Cross-encoder that reads the best candidates, if it is on this machine or at "
    "RERANKER_BASE_URL; none: off.",
)
RERANKER_BASE_URL = option(
    "RERANKER_BASE_URL",
    "",
    "Address of a server that runs RERANKER and answers /rerank; empty: this machine runs it.",
)
RERANKER_API_KEY = option("RERANKER_API_KEY", "", "Key of the reranking server.", secret=True)
RERANK_CANDIDATES = option(
    "RERANK_CANDIDATES",
    20,
    "Candidates that the cross-encoder reads for a search; for an answer at most 10, for a "
    "lecture's window 5.",
    least=1,
    most=20,
)

# Language models

LLM_PROVIDER = option(
    "LLM_PROVIDER",
    "",
    "Language model for answers, HyDE and chunk contexts: none, openai, anthropic or ollama; empty:"
    " the one for answers that was chosen on the page Ask, if any.",
)
LLM_MODEL = option("LLM_MODEL", "", "A model of that provider; empty: a small default model.")
LLM_BASE_URL = option(
    "LLM_BASE_URL", "", "Another server that speaks the provider's API; empty: the provider's own."
)
_prices = option(
    "LLM_PRICES",
    [],
    "Prices per million input, cached and output tokens, such as 0.25,0.025,2, for the cost "
    "metric; empty: no costs.",
)
try:
    LLM_PRICES = [float(price) for price in _prices]
except ValueError:
    LLM_PRICES = []
if _prices and len(LLM_PRICES) != 3:
    raise ImproperlyConfigured(f"LLM_PRICES cannot be {_prices}: three numbers are expected")
LLM_CONTEXT_TOKENS = option(
    "LLM_CONTEXT_TOKENS",
    0,
    "Context window in tokens; 0: 90,000 for a known service, 8,000 for another server.",
    most=1_000_000,
)
LLM_CONCURRENCY = option(
    "LLM_CONCURRENCY",
    0,
    "Concurrent calls while chunk contexts are written; 0: 4 for a known service, 1 for another "
    "server.",
    most=64,
)
DISABLE_CONTEXTUAL_RETRIEVAL = option(
    "DISABLE_CONTEXTUAL_RETRIEVAL", False, "Do not let a language model write chunk contexts."
)
DISABLE_HYDE = option(
    "DISABLE_HYDE", False, "Do not search with a hypothetical answer of a language model."
)
UNSUPPORTED_CLAIMS = option(
    "UNSUPPORTED_CLAIMS",
    "drop",
    "What to do with a language model's claim that no quote supports: drop or mark.",
    among=("drop", "mark"),
)
VOYAGE_API_KEY = option("VOYAGE_API_KEY", "", "Key of Voyage AI.", secret=True)
OPENAI_API_KEY = option(
    "OPENAI_API_KEY", "", "Key of OpenAI, or of another server that speaks its API.", secret=True
)
ANTHROPIC_API_KEY = option("ANTHROPIC_API_KEY", "", "Key of Anthropic.", secret=True)
VOYAGE_BASE_URL = option(
    "VOYAGE_BASE_URL", "https://api.voyageai.com/v1", "Address of Voyage AI's API."
)
OPENAI_BASE_URL = option(
    "OPENAI_BASE_URL",
    "https://api.openai.com/v1",
    "Address of OpenAI's API, or of a server that speaks it.",
)
OLLAMA_BASE_URL = option("OLLAMA_BASE_URL", "http://127.0.0.1:11434", "Address of Ollama.")
MODEL_TIMEOUT_SECONDS = option(
    "MODEL_TIMEOUT_SECONDS",
    0.0,
    "Longest wait for a model server; 0: 30 seconds, and 180 for a language model on your own "
    "server.",
)

# Documents and lectures

MAX_DOCUMENT_BYTES = option("MAX_DOCUMENT_BYTES", 200_000_000, "Size limit of a document.", least=1)
MAX_DOCUMENT_PAGES = option("MAX_DOCUMENT_PAGES", 5_000, "Page limit of a document.", least=1)
LIVE_DISTANCE_THRESHOLD = option(
    "LIVE_DISTANCE_THRESHOLD",
    1.5,
    "Distance above which a lecture cites nothing: the squared L2 distance of the vectors of "
    "speech and passage, 2 − 2·cosine, from 0 to 4. Lower is stricter.",
    most=4,
)
LIVE_OFF_TOPIC_CONFIDENCE = option(
    "LIVE_OFF_TOPIC_CONFIDENCE", 0.8, "Confidence from which speech is off-topic; 1: never.", most=1
)
LIVE_KEYWORDS = option(
    "LIVE_KEYWORDS",
    "fast",
    "Keyword extraction: fast (close to KeyBERT, several times faster), "
    "keybert (the library itself, which loads torch) or none.",
    among=("fast", "keybert", "none"),
)
LIVE_RERANKER = option(
    "LIVE_RERANKER",
    "cross-encoder/ms-marco-TinyBERT-L-2-v2",
    "Cross-encoder for lectures, if it is on this machine, or the same as RERANKER at its server; "
    "none: off.",
)

# Speech

LISTEN = option(
    "LISTEN",
    "ask",
    "Whether recordings and videos without captions are listened to: always; ask: if somebody asks "
    "for it; or never. A collection may say it for itself.",
    among=("never", "ask", "always"),
)
SPEECH_PROVIDER = option(
    "SPEECH_PROVIDER",
    "local",
    "Who recognises the speech of recordings without captions: `local`, Whisper on this machine if "
    "it is installed and its model is here; `openai`, a server that speaks OpenAI's API for it; or "
    "none.",
    among=("local", "openai", "none"),
)
SPEECH_MODEL = option(
    "SPEECH_MODEL",
    "",
    "Its model: locally tiny, base, small, medium or large-v3, a name on the hub, or a folder; "
    "empty: base, at a server whisper-1.",
)
SPEECH_BASE_URL = option(
    "SPEECH_BASE_URL", "", "Address of that server; empty: that of OPENAI_BASE_URL."
)
SPEECH_API_KEY = option(
    "SPEECH_API_KEY",
    "",
    "Key of that server; empty: OPENAI_API_KEY at OPENAI_BASE_URL.",
    secret=True,
)

# YouTube

TRANSCRIPT_LANGUAGES = option(
    "TRANSCRIPT_LANGUAGES", ["en"], "Caption languages in order of preference; en matches en-GB."
)
PROXY_URL = option("PROXY_URL", "", "Proxy for all requests to YouTube.", secret=True)
YOUTUBE_PACING_SECONDS = option(
    "YOUTUBE_PACING_SECONDS", 12.0, "Usual pause between two videos requested from YouTube."
)
YOUTUBE_TIMEOUT_SECONDS = option(
    "YOUTUBE_TIMEOUT_SECONDS", 20.0, "Time limit for one response from YouTube."
)
YOUTUBE_MAX_BYTES = option(
    "YOUTUBE_MAX_BYTES", 20_000_000, "Size limit of one response from YouTube."
)
MAX_UPLOAD_BYTES = option("MAX_UPLOAD_BYTES", 20_000_000, "Size limit of a caption file.")
MAX_MEDIA_BYTES = option(
    "MAX_MEDIA_BYTES", 500_000_000, "Size limit of an audio or video file.", least=1
)
