"""How it is set up and whether it is well: config and doctor."""

import typer

from kbsite.cli.options import Json
from kbsite.cli.terminal import note, print_json, say, table


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command("config")(config)
    app.command("doctor")(doctor)


def config(as_json: Json = False) -> None:
    """Show every setting: its value, where that comes from, what it is for. Secrets are masked."""
    from kbsite.cli import config as cli_config

    found = cli_config.settings_in_use()
    if as_json:
        print_json([one.as_json() for one in found])
    else:
        table(
            ("Setting", "Value", "From", "Meaning"),
            ((one.name, one.shown, one.origin, one.meaning) for one in found),
        )
        for line in cli_config.lock_lines():
            note(line)


def doctor(as_json: Json = False) -> None:
    """Check everything that has to work, and say what to do where it does not. The exit code is 1 if something fails."""
    from kbsite.cli import doctor as cli_doctor

    checks = cli_doctor.run()
    failed = any(check.ok is False for check in checks)
    if as_json:
        print_json({"ok": not failed, "checks": [check.as_json() for check in checks]})
    else:
        for check in checks:
            mark, style = cli_doctor.MARKS[check.ok]
            say(f"{mark} {check.name}: {check.detail}", style)
            if check.ok is not True and check.hint:
                say(f"    {check.hint}")
    raise typer.Exit(1 if failed else 0)
