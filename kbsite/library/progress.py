"""How far a long task has come, for whoever shows it: a bar in a terminal, nobody in a program."""


class TaskProgress:
    """Shows nothing."""

    def show(self, label: str, done: int = 0, total: int | None = None) -> None:
        """Show what is done now, and how many of how many; None: nobody knows yet."""

    def note(self, text: str) -> None:
        """Say something that is to stay."""
