"""Errors that the server answers with: the numbers, severities and words of Adaptive Server's own."""

from tests.live.tds.tokens import Message


class Failed(Exception):
    """A statement failed with this message; the rest of its batch is not run."""

    def __init__(self, number: int, severity: int, text: str, *, state: int = 1, procedure: str = "") -> None:
        """Take what the client is told."""
        super().__init__(text)
        self.message = Message(number, severity, text + "\n", state, procedure)


def no_object(name: str) -> Failed:
    """Msg 208."""
    hint = "Specify owner.objectname or use sp_help to check whether the object exists"
    return Failed(208, 16, f"{name} not found. {hint} (sp_help may produce lots of output).")


def no_column(name: str) -> Failed:
    """Msg 207."""
    return Failed(207, 16, f"Invalid column name '{name}'.", state=4)


def no_procedure(name: str) -> Failed:
    """Msg 2812."""
    hint = "Specify owner.objectname or use sp_help to check whether the object exists"
    return Failed(
        2812, 16, f"Stored procedure '{name}' not found. {hint} (sp_help may produce lots of output).", state=5
    )


def no_role(role: str) -> Failed:
    """Msg 10353."""
    says = "You must have any of the following role(s) to execute this command/procedure:"
    return Failed(10353, 14, f"{says} '{role}' . Please contact a user with the appropriate role for help.")


def no_database(name: str) -> Failed:
    """Msg 911."""
    hint = "No entry found with that name. Make sure that the name is entered properly."
    return Failed(911, 11, f"Attempt to locate entry in sysdatabases for database '{name}' by name failed - {hint}")


def no_user(login: str, name: str) -> Failed:
    """Msg 916."""
    return Failed(916, 14, f"Server user id 4 is not a valid user in database '{name}'")


def offline(name: str) -> Failed:
    """Msg 950."""
    return Failed(950, 14, f"Database '{name}' is currently offline. Please wait and try your command later.")


def lock_wait() -> Failed:
    """Msg 12205."""
    return Failed(12205, 17, "Could not acquire a lock within the specified wait period. COMMAND level wait...")


def syntax(near: str) -> Failed:
    """Msg 102."""
    return Failed(102, 15, f"Incorrect syntax near '{near}'.", state=181)


def denied(what: str) -> Failed:
    """Msg 10330: this login may only read."""
    return Failed(10330, 14, f"{what} permission denied, database master, owner dbo")


def deadlock() -> Failed:
    """Msg 1205."""
    return Failed(
        1205,
        13,
        "Your server command (family id #0, process id #24) encountered a deadlock situation. "
        "Please re-run your command.",
        state=2,
    )
