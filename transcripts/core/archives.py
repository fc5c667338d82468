"""ZIP files whose bytes depend on their content alone."""

import io
import zipfile
from collections.abc import Mapping


def archive(files: Mapping[str, bytes]) -> bytes:
    """Return a ZIP of files by name, in their order; equal files give equal bytes."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, data in files.items():
            opened.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return content.getvalue()
