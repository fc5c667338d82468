"""One library, here or on a server, what the commands do with it, and how far a task has come."""


class TaskProgress:
    """Shows nothing; a bar in a terminal shows more. Tells how far a long task has come."""

    def show(self, label: str, done: int = 0, total: int | None = None) -> None:
        """Show what is done now, and how many of how many; None: nobody knows yet."""

    def note(self, text: str) -> None:
        """Say something that is to stay."""
