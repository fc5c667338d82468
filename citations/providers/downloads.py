"""Models are fetched from the Hugging Face hub: on request, never in the middle of something else.

They go into the cache that the hub's library keeps, where other programs find them too. Large files are written there beside the complete ones and stay
when the connection breaks off, since the library itself would begin them anew.
"""

import fcntl
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from json import JSONDecodeError
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from citations.errors import ModelError, ModelRefused, ModelServerError
from citations.providers import weights

OnProgress = Callable[[int, int], None]  # gets the bytes that are here and the bytes in all
SECONDS: Final = 20.0  # that the hub may take to say what a model consists of
_BESIDE: Final = re.compile(r"[^/]+\.(json|txt|model|md)|\d+_\w+/[^/]+\.(json|safetensors|bin)")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_FORMS: Final = (
    re.compile(r"model(-\d+-of-\d+)?\.safetensors"),
    re.compile(r"pytorch_model(-\d+-of-\d+)?\.bin"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteFile:
    """A file to fetch, and its bytes. ``sha256`` of the large ones, "" for the others."""

    name: str
    size: int
    sha256: str = ""


def fetch(name: str, report: OnProgress) -> Path:
    """Fetch a model into the hub's cache, what is there of it already left out, and return its folder. A fetch that broke off goes on where it was.

    Raises ``ModelRefused`` where the hub has no such model or does not give it, ``ModelServerError`` where it cannot be reached or breaks off,
    ``ModelError`` where the model is of no use here or there is no room for it.
    """
    with _told(name):
        files = _needed(name)
        total = sum(file.size for file in files)
        _make_room(name, total - sum(_here(name, file) for file in files))
        count = _Count(report, total)
        for file in files:
            _download(name, file, count)
    return weights.find(name)


def _needed(name: str) -> list[RemoteFile]:
    """Ask the hub what is to be fetched: the configuration first, the weights last, so that what is complete has its weights."""
    from huggingface_hub import HfApi

    try:
        told = HfApi(endpoint=_endpoint()).model_info(name, files_metadata=True, timeout=SECONDS)
        files = {file.rfilename: _file(file) for file in told.siblings or ()}
    except (JSONDecodeError, TypeError, KeyError, AttributeError) as error:
        hint = "Check HF_ENDPOINT, and whether this network wants a sign-in first."
        raise ModelServerError(
            f"What answers at {_where()} is not the Hugging Face hub.", hint=hint
        ) from error
    form = next(
        (chosen for form in _FORMS if (chosen := [file for file in files if form.fullmatch(file)])),
        [],
    )
    if not form or "config.json" not in files:
        raise ModelRefused(
            f"{name} has no weights that can be used here: safetensors, or PyTorch's.",
            hint="Check the model that the settings name.",
        )
    beside = [file for file in files if _BESIDE.fullmatch(file)]
    return [files[file] for file in [*sorted(beside), *sorted(form)]]


def _file(told: Any) -> RemoteFile:
    sha256 = str(told.lfs.sha256) if told.lfs else ""
    return RemoteFile(
        name=told.rfilename,
        size=int(told.size or 0),
        sha256=sha256 if _SHA256.fullmatch(sha256) else "",
    )


def _download(name: str, file: RemoteFile, count: "_Count") -> None:
    from huggingface_hub import hf_hub_download

    if file.sha256:
        _go_on(name, file, count)
    hf_hub_download(
        name, file.name, endpoint=_endpoint(), tqdm_class=count.bar()
    )  # takes what is whole as it is, and gives it its name
    count.finish(file.size)


def _go_on(name: str, file: RemoteFile, count: "_Count") -> None:
    """Fetch what is missing of a large file. One process does it while others wait."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]  # documented, yet not exported

    url = hf_hub_url(name, file.name, endpoint=_endpoint())
    whole, part = _blob(name, file), _part(name, file)
    if (
        whole.exists() or get_hf_file_metadata(url).etag != file.sha256
    ):  # a mirror may name its files in another way; the library knows what to do
        return
    whole.parent.mkdir(parents=True, exist_ok=True)
    with part.open("ab") as out:
        fcntl.flock(out, fcntl.LOCK_EX)
        if whole.exists():
            return
        if out.tell() > file.size:
            out.seek(out.truncate(0))
        for _ in range(2 if out.tell() else 1):  # what lay there may be spoilt
            http_get(
                url,
                out,
                resume_size=out.tell(),
                headers=build_hf_headers(),
                expected_size=file.size,
                tqdm_class=count.bar(),
            )
            out.flush()
            if weights.sha256(part) == file.sha256:
                part.rename(whole)
                return
            out.seek(out.truncate(0))
            count.begin_again()
    raise ModelServerError(
        f"{file.name} of {name} was damaged on its way.", hint="Run the command again."
    )


def _blob(name: str, file: RemoteFile) -> Path:
    """Return where the hub's cache keeps a large file."""
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    return Path(
        constants.HF_HUB_CACHE,
        repo_folder_name(repo_id=name, repo_type="model"),
        "blobs",
        file.sha256,
    )


def _part(name: str, file: RemoteFile) -> Path:
    return _blob(name, file).with_suffix(".part")


def _here(name: str, file: RemoteFile) -> int:
    """Return how many bytes of a large file have been fetched before."""
    found = next(
        (path for path in (_blob(name, file), _part(name, file)) if file.sha256 and path.is_file()),
        None,
    )
    return min(found.stat().st_size, file.size) if found else 0


class _Count:
    """Adds up the bytes of all files."""

    def __init__(self, report: OnProgress, total: int) -> None:
        self._report = report
        self._total = total
        self._before = 0  # of the files that are complete
        self._now = 0  # of the one that is being fetched

    def bar(self) -> Any:
        """Return what the hub's library takes for the class of its progress bars."""
        add = self._add

        class Bar:
            def __init__(self, *_: object, initial: int = 0, **__: object) -> None:
                add(initial)

            def __enter__(self) -> Self:
                return self

            def __exit__(
                self,
                kind: type[BaseException] | None,
                error: BaseException | None,
                trace: TracebackType | None,
            ) -> None:
                return None

            def update(self, n: float | None = 1) -> None:
                add(int(n or 0))

            def __getattr__(self, _: str) -> Callable[..., None]:
                return lambda *_, **__: (
                    None
                )  # close, refresh, descriptions: there is nothing to draw

        return Bar

    def begin_again(self) -> None:
        """Forget what was counted of the file that is being fetched."""
        self._now = 0

    def finish(self, size: int) -> None:
        """Note that a file is complete, however much of it was here before."""
        self._before += size
        self._now = 0
        self._report(self._before, self._total)

    def _add(self, count: int) -> None:
        self._now += count
        self._report(min(self._before + self._now, self._total), self._total)


def _make_room(name: str, total: int) -> None:
    from huggingface_hub import constants

    folder = Path(constants.HF_HUB_CACHE)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ModelError(
            f"Nothing can be kept in {folder}: {error.strerror}.",
            hint="HF_HOME names another folder.",
        ) from error
    if shutil.disk_usage(folder).free < total:
        raise ModelError(
            f"{name} has {total / 1e9:.1f} GB, and there is less room in {folder}.",
            hint="HF_HOME names another folder.",
        )


def _endpoint() -> str | None:
    return os.environ.get("HF_ENDPOINT") or None


@contextmanager
def _told(name: str) -> Iterator[None]:
    """Turn what the hub's library raises into what a person can act upon."""
    from huggingface_hub.errors import (
        EntryNotFoundError,
        GatedRepoError,
        HfHubHTTPError,
        HFValidationError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
    )
    from huggingface_hub.errors import HTTPError as TransportError  # type: ignore[attr-defined]  # of whichever HTTP library it uses

    where = _where()
    try:
        yield
    except GatedRepoError as error:
        raise ModelRefused(
            f"{name} is given only to those who accepted its terms.",
            hint="Accept them on the model's page, and set HF_TOKEN.",
        ) from error
    except (RepositoryNotFoundError, HFValidationError) as error:
        hint = "Check the model that the settings name; a private one wants HF_TOKEN."
        raise ModelRefused(f"There is no model {name[:200]} at {where}.", hint=hint) from error
    except OfflineModeIsEnabled as error:
        raise ModelServerError(
            f"{name} cannot be fetched: HF_HUB_OFFLINE is set.",
            hint="Unset it for `kb models fetch`.",
        ) from error
    except HfHubHTTPError as error:
        if error.response.status_code in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            raise ModelRefused(
                f"{where} refuses to give {name}: HTTP {error.response.status_code}.",
                hint="Check HF_TOKEN.",
            ) from error
        raise ModelServerError(
            f"{where} does not give {name}: HTTP {error.response.status_code}.",
            hint="Try again later.",
        ) from error
    except (TransportError, EntryNotFoundError, OSError) as error:
        hint = "Check the connection, HTTPS_PROXY and HF_ENDPOINT, and run the command again: it goes on where it was."
        raise ModelServerError(
            f"{name} could not be fetched from {where}: {_first_line(error.__cause__ or error)}",
            hint=hint,
        ) from error


def _where() -> str:
    return _endpoint() or "the Hugging Face hub"


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)[:300]
