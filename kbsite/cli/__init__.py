"""The `kb` command.

``commands`` holds what can be typed: names, options, help. Those modules import nothing heavy, so that help and completion answer at once; each command
imports its work when it runs. The modules beside it do the work, and may import models, because a command opens the library first.
"""

from kbsite.cli.app import app


def main() -> None:
    """Run `kb`."""
    app(prog_name="kb")
