"""Errors of the embedded PostgreSQL."""

from transcripts.core.errors import Unavailable


class EmbeddedPostgresError(Unavailable):
    """The embedded PostgreSQL cannot be used."""

    code = "postgres_unavailable"
    default_hint = "Set DATABASE_URL to use a PostgreSQL server of your own."


class ProgramsMissing(EmbeddedPostgresError):
    """The bundled PostgreSQL programs do not exist or do not run on this platform."""

    code = "postgres_missing"
    default_hint = (
        "No PostgreSQL is bundled for this platform. Set DATABASE_URL to use a server of your own."
    )


class ProgramsTooOld(Unavailable):
    """No installed PostgreSQL programs are new enough for the server."""

    code = "postgres_programs_old"


class OtherVersion(EmbeddedPostgresError):
    """The data directory was created by another major version of PostgreSQL."""

    code = "postgres_version"


class DiskFull(EmbeddedPostgresError):
    """There is no space left for the database."""

    code = "disk_full"
    default_hint = (
        "Free space on that disk, or set YOUTUBE_KB_DATA_DIR to a directory on another one."
    )


class NotWritable(EmbeddedPostgresError):
    """The data directory cannot be written to."""

    code = "data_dir_not_writable"
    default_hint = "Let this user write there, or set YOUTUBE_KB_DATA_DIR to another directory."


class OwnedByAnother(EmbeddedPostgresError):
    """The data directory belongs to another user of this machine."""

    code = "data_dir_of_another_user"
    default_hint = (
        "Run as that user, set YOUTUBE_KB_DATA_DIR to a directory of your own, "
        "or set DATABASE_URL to share a server."
    )


class PathUnusable(EmbeddedPostgresError):
    """The data directory's path cannot hold a database."""

    code = "data_dir_unusable"
    default_hint = "Set YOUTUBE_KB_DATA_DIR to another directory."


class StartFailed(EmbeddedPostgresError):
    """PostgreSQL stopped while it was starting."""

    code = "postgres_start_failed"
    default_hint = "See the server's log, or set DATABASE_URL to use a server of your own."


class StartTimeout(EmbeddedPostgresError):
    """PostgreSQL did not respond in time; it may still be recovering."""

    code = "postgres_start_timeout"
    default_hint = "Try again in a while: a large database recovers first after a crash."


def unreachable(error: Exception) -> Unavailable:
    """Return the error for a database that refuses connections."""
    reason = " ".join(str(error).split())[:300]
    return Unavailable(
        f"The database does not answer: {reason}",
        hint="Run the command again in a few seconds. If this persists, check DATABASE_URL, and"
        " that the server runs.",
    )
