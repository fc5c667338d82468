"""Train and measure the model that puts full stops into speech without them.

Run ``python bench/training/punctuation.py`` from the repository to measure; ``--save`` trains it
anew and writes ``citations/providers/punctuation.safetensors`` (half an hour on two cores). It is
trained on English transcripts with full stops, on the pages of Hugging Face's course and on
``--prose``: folders with the sources of Django's and scikit-learn's documentation, as their
releases contain them. All licences permit it. It is measured on other transcripts.
"""

import argparse
import random
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

sys.path.append("bench")

from harness.environment import boot, command

boot(database=False)

import torch
from harness.report import publish, table
from harness.sets import cues, pages_of_course, paths
from numpy.typing import NDArray
from safetensors.numpy import save_file
from speech import LEFT_OUT, TRAINED, spoken
from torch import Tensor, nn
from transformers import AutoModel, AutoTokenizer

from citations.ingest.punctuation import LIKELY
from citations.providers import punctuation, weights
from citations.providers.punctuation import LAYERS, MARKS, MAX_WORD_TOKENS, WINDOW, Punctuator
from citations.text import sentences
from citations.text.sentences import WORD, ends_with_stop

NONE, STOP, QUESTION, COMMA = range(len(MARKS))
IGNORED: Final = -100  # label of a word that is none
THRESHOLDS: Final = (0.3, 0.4, 0.5, 0.7)

EPOCHS: Final = 3
BATCH: Final = 24  # windows
SHARE_OF_PROSE: Final = 0.6  # of its windows, in each epoch
UNITS: Final = 96  # of the GRU in each direction
RATES: Final = (2e-4, 1.5e-3)  # of the encoder's layers, and of what is on top

PAUSE: Final = re.compile(r"[,;:—]|\s[-–—]\s")
BLOCK: Final = re.compile(r"^\s*(\.\.|>>>|\$|\||\+|=|-{3,}|~{3,}|:\w)", re.MULTILINE)
ROLE: Final = re.compile(r":[\w:+-]+:`(?:([^`<]*?)\s*<[^`>]*>|~?([^`]*))`")
LITERAL: Final = re.compile(r"`([^`<]*?)\s*<[^`>]*>`__?|``([^`]*)``|`([^`]*)`_{0,2}")
LINK: Final = re.compile(r"\[([^\]]*)\]\([^)]*\)")
ODD: Final = re.compile(r"[^\w\s.,;:?!'’\"()-]")
MIN_WORDS: Final = 150  # words of a page


class Labelled(NamedTuple):
    """Words in lower case, and the number of the mark behind each."""

    words: list[str]
    marks: NDArray[np.int64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", action="store_true", help="train, and write the model")
    parser.add_argument("--prose", type=Path, nargs="*", default=[], help="folders of .txt, .rst")
    options = parser.parse_args()
    if options.save:
        said = [labelled_talk(path) for path in paths(*TRAINED)]
        written = [label(page) for page in (*course_pages(), *manual_pages(options.prose))]
        save_file(quantized(train(said, written)), punctuation.TRAINED)
    size = punctuation.TRAINED.stat().st_size / 1_000_000
    publish(
        "Full stops in speech without them",
        f"{command()}: transcripts whose marks and capitals were taken away; the model of"
        f" {size:.1f} MB is trained on {', '.join(TRAINED)} and on prose. In the cells: the share"
        " of the claimed ends that are ends · the share of the ends that are claimed, from a"
        f" probability on; an end is claimed from {LIKELY} on, and the columns on the right are of"
        " these. *Within a clause*: the share of them where the transcript has no mark at all, not"
        " even a comma. *Words*: of the words' weights alone (“Where sentences end without full"
        " stops”), at an even chance.",
        table(
            ("set", "ends", "words", *map(str, THRESHOLDS), "within a clause", "question marks"),
            rows(),
        ),
    )


def labelled_talk(path: Path) -> Labelled:
    return label(" ".join(spoken(cues(path))))


def course_pages() -> Iterator[str]:
    """Yield the prose of each page of Hugging Face's course."""
    for sections in pages_of_course().values():
        texts = (re.sub(r"```.*?```", " ", row["text"], flags=re.DOTALL) for row in sections)
        lines = (line for text in texts for line in LINK.sub(r"\1", text).split("\n"))
        yield prose(line.strip().lstrip("*-# ") for line in lines)


def manual_pages(folders: Sequence[Path]) -> Iterator[str]:
    """Yield the prose of each page of manuals in reStructuredText."""
    for path in sorted(file for folder in folders for file in folder.glob("**/*.[tr][xs]t")):
        text = path.read_text(encoding="utf-8", errors="replace")
        blocks = re.split(r"\n\s*\n", text)
        texts = (" ".join(block.split()) for block in blocks if not BLOCK.search(block))
        yield prose(re.sub(r"^(?:[*\-#]|\d+\.) ", "", plain(block)) for block in texts)


def plain(text: str) -> str:
    text = ROLE.sub(lambda match: (match[1] or match[2] or "").split(".")[-1], text)
    text = LITERAL.sub(lambda match: match[1] or match[2] or match[3] or "", text)
    return re.sub(r"\*\*?([^*]+)\*\*?", r"\1", text)


def prose(blocks: Iterator[str]) -> str:
    """Join the blocks that are sentences; empty if they are few."""
    whole = [
        block
        for block in blocks
        if block.endswith((".", "?", "!"))
        and "::" not in block
        and block.count(" ") >= 7
        and len(ODD.findall(block)) <= len(block) / 60
    ]
    text = " ".join(whole)
    return text if text.count(" ") >= MIN_WORDS else ""


def label(text: str) -> Labelled:
    """Take the marks away from a text."""
    matches = list(WORD.finditer(text))
    marks = np.zeros(len(matches), np.int64)
    for number, match in enumerate(matches):
        if PAUSE.match(text, match.end()):
            marks[number] = COMMA
    starts = [match.start() for match in matches]
    ends = [last for first, last in sentences.split(text) if ends_with_stop(text[first:last])]
    for number in np.searchsorted(starts, ends) - 1:
        if number < 0:  # “…” before the first word
            continue
        after = text[matches[number].end() : matches[number].end() + 3]
        marks[number] = QUESTION if "?" in after else STOP
    return Labelled([match[0].casefold().replace("’", "'") for match in matches], marks)


class Network(nn.Module):
    """The layers of the encoder, and a GRU over the gaps between words."""

    def __init__(self, encoder: Any) -> None:
        super().__init__()
        self.encoder = encoder
        self.gap = nn.Linear(2 * encoder.config.hidden_size, 2 * UNITS)
        self.gru = nn.GRU(2 * UNITS, UNITS, batch_first=True, bidirectional=True)
        self.mark = nn.Linear(2 * UNITS, len(MARKS))
        self.dropout = nn.Dropout(0.1)

    def forward(self, ids: Tensor, mask: Tensor, last: Tensor, following: Tensor) -> Tensor:
        hidden = self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        around = [
            hidden.gather(1, places[:, :, None].expand(-1, -1, hidden.shape[2]))
            for places in (last, following)
        ]
        gaps = self.dropout(torch.relu(self.gap(torch.cat(around, 2))))
        logits: Tensor = self.mark(self.dropout(self.gru(gaps)[0] + gaps))
        return logits


def train(spoken: Sequence[Labelled], written: Sequence[Labelled]) -> Network:
    """Fine-tune the encoder on windows that begin elsewhere in each epoch."""
    torch.manual_seed(1)
    chance = random.Random(1)
    folder = str(weights.find(weights.MINILM))
    tokens = _Tokens(AutoTokenizer.from_pretrained(folder))
    encoder = AutoModel.from_pretrained(folder, attn_implementation="sdpa", dtype=torch.float32)
    encoder.encoder.layer = encoder.encoder.layer[:LAYERS]
    encoder.embeddings.requires_grad_(requires_grad=False)
    network = Network(encoder).train()
    own = [value for name, value in network.named_parameters() if not name.startswith("encoder")]
    groups = [list(encoder.encoder.parameters()), own]
    optimizer = torch.optim.AdamW(
        [{"params": group, "lr": rate} for group, rate in zip(groups, RATES, strict=True)]
    )
    epochs = [_windows(spoken, written, chance) for _ in range(EPOCHS)]
    steps = sum(len(windows) // BATCH + 1 for windows in epochs)
    rates = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, list(RATES), total_steps=steps, pct_start=0.1
    )
    loss = nn.CrossEntropyLoss(ignore_index=IGNORED)
    for windows in epochs:
        while batch := [windows.pop() for _ in range(min(BATCH, len(windows)))]:
            logits = network(*tokens.batch([window.words for window in batch]))
            marks = torch.full(logits.shape[:2], IGNORED)
            for row, window in enumerate(batch):
                # What follows the last word is not in the window.
                marks[row, : len(window.marks) - 1] = torch.from_numpy(window.marks[:-1])
            optimizer.zero_grad()
            loss(logits.flatten(0, 1), marks.flatten()).backward()
            nn.utils.clip_grad_norm_(own, 1.0)
            optimizer.step()
            rates.step()
    return network


def _windows(
    spoken: Sequence[Labelled], written: Sequence[Labelled], chance: random.Random
) -> list[Labelled]:
    windows = [part for text in spoken for part in _parts(text, chance)]
    prose_parts = [part for text in written for part in _parts(text, chance)]
    windows += chance.sample(prose_parts, round(SHARE_OF_PROSE * len(prose_parts)))
    chance.shuffle(windows)
    return windows


def _parts(text: Labelled, chance: random.Random) -> Iterator[Labelled]:
    first = chance.randrange(WINDOW // 2) if len(text.words) > 2 * WINDOW else 0
    for start in range(first, len(text.words) - 10, WINDOW):
        stop = start + WINDOW
        yield Labelled(text.words[start:stop], text.marks[start:stop])


class _Tokens:
    """Words as the tensors that the network reads."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._known: dict[str, list[int]] = {}

    def batch(self, rows: Sequence[Sequence[str]]) -> tuple[Tensor, ...]:
        tokenized = [[self._ids(word) for word in row] for row in rows]
        width = 2 + max(sum(map(len, row)) for row in tokenized)
        ids = torch.full((len(rows), width), self._tokenizer.pad_token_id)
        mask = torch.zeros_like(ids)
        places = torch.zeros((2, len(rows), max(map(len, rows))), dtype=torch.long)
        begin, end = self._tokenizer.cls_token_id, self._tokenizer.sep_token_id
        for number, row in enumerate(tokenized):
            flat = [begin, *(token for word in row for token in word), end]
            ids[number, : len(flat)] = torch.tensor(flat)
            mask[number, : len(flat)] = 1
            stops = 1 + torch.cumsum(torch.tensor([len(word) for word in row]), 0)
            places[0, number, : len(row)] = stops - 1
            places[1, number, : len(row)] = stops
        return ids, mask, places[0], places[1]

    def _ids(self, word: str) -> list[int]:
        if word not in self._known:
            encoded = self._tokenizer.encode(word, add_special_tokens=False)
            self._known[word] = encoded[:MAX_WORD_TOKENS] or [self._tokenizer.unk_token_id]
        return self._known[word]


def quantized(network: Network) -> dict[str, NDArray[Any]]:
    """Return the trained tensors by name: matrices in 8 bits with a scale for each row."""
    state = {name: value.detach().numpy() for name, value in network.state_dict().items()}
    tensors = {
        name.removeprefix("encoder."): value
        for name, value in state.items()
        if name.startswith(("encoder.encoder.", "gap.", "mark."))
    }
    both = ("", "_reverse")
    tensors["gru.inputs"] = np.concatenate([_gates(state[f"gru.weight_ih_l0{d}"]) for d in both])
    tensors["gru.states"] = np.concatenate([_gates(state[f"gru.weight_hh_l0{d}"]) for d in both])
    tensors["gru.biases"] = np.concatenate(
        [_biases(state[f"gru.bias_ih_l0{d}"], state[f"gru.bias_hh_l0{d}"]) for d in both]
    )
    stored: dict[str, NDArray[Any]] = {}
    for name, value in tensors.items():
        if value.ndim == 1:
            stored[name] = value.astype(np.float32)
            continue
        scales = np.abs(value).max(axis=1) / 127
        stored[name] = np.round(value / scales[:, None]).astype(np.int8)
        stored[f"{name}.scales"] = scales.astype(np.float32)
    return stored


def _gates(rows: NDArray[Any]) -> NDArray[Any]:
    """Return torch's reset, update and new gates in OpenVINO's order: update, reset, new."""
    reset, update, new = np.split(rows, 3)
    return np.concatenate([update, reset, new])


def _biases(inputs: NDArray[Any], states: NDArray[Any]) -> NDArray[Any]:
    """Return the biases as OpenVINO adds them: those of the new gate stay apart."""
    reset, update, new = np.split(inputs, 3)
    own_reset, own_update, own_new = np.split(states, 3)
    return np.concatenate([update + own_update, reset + own_reset, new, own_new])


def rows() -> Iterator[Sequence[object]]:
    model = Punctuator()
    for name in LEFT_OUT:
        talks = [labelled_talk(path) for path in paths(name)]
        truth = np.concatenate([talk.marks for talk in talks])
        ends = np.isin(truth, (STOP, QUESTION))
        rows = np.concatenate([r for talk in talks for r in model.probabilities(talk.words)])
        likelihood = rows[:, STOP] + rows[:, QUESTION]
        words = np.concatenate([_by_words(talk.words) for talk in talks])
        claimed = likelihood >= LIKELY
        questions = claimed & (rows[:, QUESTION] > rows[:, STOP])
        yield (
            name,
            int(ends.sum()),
            _shares(words, ends),
            *(_shares(likelihood >= threshold, ends) for threshold in THRESHOLDS),
            f"{(truth[claimed] == NONE).mean():.3f}",
            _shares(questions, truth == QUESTION),
        )


def _by_words(words: Sequence[str]) -> NDArray[np.bool_]:
    weights = sentences.END_WEIGHTS
    gaps = sentences.gap_patterns(words)
    return np.array([*(sum(weights.get(each, 0.0) for each in gap) >= 0 for gap in gaps), False])


def _shares(claimed: NDArray[np.bool_], ends: NDArray[np.bool_]) -> str:
    right = (claimed & ends).sum()
    return f"{right / max(1, claimed.sum()):.3f} · {right / max(1, ends.sum()):.3f}"


if __name__ == "__main__":
    main()
