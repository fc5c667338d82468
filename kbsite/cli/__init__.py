"""The `kb` command: one module for each command or group, imported when it is called."""

from kbsite.cli.app import app


def main() -> None:
    """Run `kb`."""
    app(prog_name="kb")
