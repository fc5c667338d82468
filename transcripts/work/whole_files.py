"""Files that appear when they are whole."""

import tempfile
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Write a file in one step for its readers; of one that cannot be written, nothing stays."""
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
        part = Path(file.name)
        try:
            file.write(data)
            file.flush()
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
