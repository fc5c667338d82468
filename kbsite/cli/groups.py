"""Commands that list without a command of their own."""

from typing import Any

from typer.core import TyperGroup


class ListGroup(TyperGroup):
    """Says what to type for a command that it does not have, such as ``list``."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, path = args[0], ctx.command_path
        if not (name in self.commands or name.startswith("-") or ctx.resilient_parsing):
            others = ", ".join(f"`{path} {command}`" for command in self.commands)
            ctx.fail(
                f"There is no `{path} {name}`. `{path}` alone lists, and `{path} --help` shows how"
                f" to narrow the list. Its commands: {others}."
            )
        return super().resolve_command(ctx, args)
