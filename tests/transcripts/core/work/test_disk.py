"""Files that appear when they are whole."""

from pathlib import Path

import pytest

from tests.full_disk import small_disk
from transcripts.core.work.disk import write_whole


def test_a_file_for_which_there_is_no_space_leaves_nothing_and_the_old_one_stays(
    tmp_path: Path,
) -> None:
    with small_disk(tmp_path / "disk", megabytes=1) as disk:
        file = disk.path / "file"
        write_whole(file, b"old")
        with pytest.raises(OSError, match="No space left"):
            write_whole(file, bytes(2 << 20))
        assert [path.name for path in disk.path.iterdir()] == ["file"]
        assert file.read_bytes() == b"old"
