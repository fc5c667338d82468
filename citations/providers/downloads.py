"""Downloads models from the Hugging Face hub, on request only.

They go into the cache of the hub's library, where other programs find them, too. Parts of large
files stay there after a lost connection, as the library itself would start again.
"""

import fcntl
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from http import HTTPStatus
from json import JSONDecodeError
from pathlib import Path
from typing import Any, Final

from citations.errors import ModelError, ModelRefused, ModelServerError
from citations.providers import weights

OnProgress = Callable[[int, int], None]  # gets the bytes on this machine, and of all
SECONDS: Final = 20.0  # for the hub to list a model's files
_CONFIGURATION: Final = re.compile(
    r"[^/]+\.(json|txt|model|md)|\d+_\w+/[^/]+\.(json|safetensors|bin)"
)
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_FORMS: Final = (
    re.compile(r"model(-\d+-of-\d+)?\.safetensors"),
    re.compile(r"pytorch_model(-\d+-of-\d+)?\.bin"),
    re.compile(r"model\.bin"),  # of CTranslate2
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteFile:
    """A file's name and bytes, and the SHA-256 of large ones ("": none)."""

    name: str
    size: int
    sha256: str = ""


def fetch(name: str, report: OnProgress) -> Path:
    """Download the missing files of a model into the hub's cache, and return its folder.

    Resumes an interrupted download. Raises ``ModelRefused`` if the hub does not have or provide the
    model, ``ModelServerError`` if the connection fails, ``ModelError`` for a full disk.
    """
    from huggingface_hub import hf_hub_download

    with _translated_errors(name):
        files = _list_files(name)
        total = sum(file.size for file in files)
        _check_space(name, total - sum(_present_bytes(name, file) for file in files))
        count = _Count(report, total)
        for file in files:
            if file.sha256:
                _resume(name, file, count)
            # Links a complete file to its name, or downloads it.
            hf_hub_download(name, file.name, endpoint=_endpoint(), tqdm_class=count.bar())
            count.finish(file.size)
    return weights.find(name)


def _list_files(name: str) -> list[RemoteFile]:
    """Return the files to download, weights last, so that a model with weights is complete."""
    from huggingface_hub import HfApi

    try:
        info = HfApi(endpoint=_endpoint()).model_info(name, files_metadata=True, timeout=SECONDS)
        files = {
            file.rfilename: RemoteFile(
                name=file.rfilename,
                size=int(file.size or 0),
                sha256=file.lfs.sha256 if file.lfs and _SHA256.fullmatch(file.lfs.sha256) else "",
            )
            for file in info.siblings or ()
        }
    except (JSONDecodeError, TypeError, KeyError, AttributeError) as error:
        hint = "Check HF_ENDPOINT, and whether this network requires a sign-in."
        raise ModelServerError(
            f"The server at {_where()} is not the Hugging Face hub.", hint=hint
        ) from error
    form = next(
        (chosen for form in _FORMS if (chosen := [file for file in files if form.fullmatch(file)])),
        [],
    )
    if not form or "config.json" not in files:
        raise ModelRefused(
            f"{name} has no usable weights (safetensors, or PyTorch's).",
            hint="Check the model that the settings name.",
        )
    beside = [file for file in files if _CONFIGURATION.fullmatch(file)]
    return [files[file] for file in [*sorted(beside), *sorted(form)]]


def _resume(name: str, file: RemoteFile, count: "_Count") -> None:
    """Download the rest of a large file; one process does it while others wait."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]  # documented

    url = hf_hub_url(name, file.name, endpoint=_endpoint())
    whole = _blob(name, file)
    part = whole.with_suffix(".part")
    # A mirror may have other names; the library downloads its files.
    if whole.exists() or get_hf_file_metadata(url).etag != file.sha256:
        return
    whole.parent.mkdir(parents=True, exist_ok=True)
    with part.open("ab") as out:
        fcntl.flock(out, fcntl.LOCK_EX)
        if whole.exists():
            return
        if out.tell() > file.size:
            out.seek(out.truncate(0))
        for _ in range(2 if out.tell() else 1):  # an old part may be damaged
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
            count.reset()
    raise ModelServerError(
        f"{file.name} of {name} was damaged during the download.", hint="Run the command again."
    )


def _blob(name: str, file: RemoteFile) -> Path:
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    return Path(
        constants.HF_HUB_CACHE,
        repo_folder_name(repo_id=name, repo_type="model"),
        "blobs",
        file.sha256,
    )


def _present_bytes(name: str, file: RemoteFile) -> int:
    """Return the bytes of a large file that are on this machine."""
    if not file.sha256:
        return 0
    whole = _blob(name, file)
    sizes = (path.stat().st_size for path in (whole, whole.with_suffix(".part")) if path.is_file())
    return min(next(sizes, 0), file.size)


class _Count:
    """Counts the bytes of all files."""

    def __init__(self, report: OnProgress, total: int) -> None:
        self._report = report
        self._total = total
        self._complete = 0  # bytes of complete files
        self._current = 0  # of the current file

    def bar(self) -> Any:
        """Return a progress bar class for the hub's library."""
        add = self._add

        class Bar(nullcontext["Bar"]):
            def __init__(self, *_: object, initial: int = 0, **__: object) -> None:
                super().__init__(self)
                add(initial)

            def update(self, n: float | None = 1) -> None:
                add(int(n or 0))

            def __getattr__(self, _: str) -> Callable[..., None]:
                return lambda *_, **__: None  # close, refresh, descriptions

        return Bar

    def reset(self) -> None:
        """Reset the count of the current file."""
        self._current = 0

    def finish(self, size: int) -> None:
        """Count a complete file."""
        self._complete += size
        self._current = 0
        self._report(self._complete, self._total)

    def _add(self, count: int) -> None:
        self._current += count
        self._report(min(self._complete + self._current, self._total), self._total)


def _check_space(name: str, total: int) -> None:
    from huggingface_hub import constants

    folder = Path(constants.HF_HUB_CACHE)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ModelError(
            f"{folder} cannot be written: {error.strerror}.", hint="Set HF_HOME to another folder."
        ) from error
    if shutil.disk_usage(folder).free < total:
        raise ModelError(
            f"{name} needs {total / 1e9:.1f} GB, and {folder} has less free space.",
            hint="Set HF_HOME to another folder.",
        )


def _endpoint() -> str | None:
    return os.environ.get("HF_ENDPOINT") or None


@contextmanager
def _translated_errors(name: str) -> Iterator[None]:
    from huggingface_hub.errors import (
        EntryNotFoundError,
        GatedRepoError,
        HfHubHTTPError,
        HFValidationError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
    )
    from huggingface_hub.errors import HTTPError as TransportError  # type: ignore[attr-defined]

    where = _where()
    try:
        yield
    except GatedRepoError as error:
        raise ModelRefused(
            f"{name} is available only to users who accepted its terms.",
            hint="Accept them on the model's page, and set HF_TOKEN.",
        ) from error
    except (RepositoryNotFoundError, HFValidationError) as error:
        hint = "Check the model that the settings name; a private one requires HF_TOKEN."
        raise ModelRefused(f"There is no model {name[:200]} at {where}.", hint=hint) from error
    except OfflineModeIsEnabled as error:
        raise ModelServerError(
            f"{name} cannot be downloaded: HF_HUB_OFFLINE is set.",
            hint="Unset it for `kb models fetch`.",
        ) from error
    except HfHubHTTPError as error:
        if error.response.status_code in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            raise ModelRefused(
                f"{where} refuses {name}: HTTP {error.response.status_code}.",
                hint="Check HF_TOKEN.",
            ) from error
        raise ModelServerError(
            f"{where} does not provide {name}: HTTP {error.response.status_code}.",
            hint="Try again later.",
        ) from error
    except (TransportError, EntryNotFoundError, OSError) as error:
        cause = error.__cause__ or error
        why = next(iter(str(cause).splitlines()), type(cause).__name__)[:300]
        raise ModelServerError(
            f"{name} could not be downloaded from {where}: {why}",
            hint="Check the connection, HTTPS_PROXY and HF_ENDPOINT. Run the command again to"
            " resume.",
        ) from error


def _where() -> str:
    return _endpoint() or "the Hugging Face hub"
