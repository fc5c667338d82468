"""How this copy of Cuebase is installed."""

from pathlib import Path

_IS_CHECKOUT = Path(__file__).parents[2].joinpath("pyproject.toml").is_file()


def install_command(extra: str) -> str:
    """Return the command that installs an extra, in a checkout in its own environment."""
    if _IS_CHECKOUT:
        return f".venv/bin/pip install -e '.[{extra}]'"
    return f"pip install 'cuebase[{extra}]'"
