"""Everything that can go wrong and that somebody is told of.

    CcBotError
    ├── InputError              the user can mend it
    │   ├── EmptyQuestion
    │   ├── QuestionTooLong
    │   ├── EmptyMemory
    │   ├── MemoryTooLong
    │   ├── SecretNotStored
    │   ├── MemoryPaused
    │   ├── MemoryNotFound
    │   ├── NotAskedFor
    │   ├── ImportNotUnderstood
    │   ├── TooManyToImport
    │   ├── EndNotUnderstood
    │   ├── UnknownTimezone
    │   ├── UnknownAgent
    │   ├── EmptyReminder
    │   ├── ReminderTooLong
    │   ├── TooManySchedules
    │   ├── ScheduleNotFound
    │   ├── ScheduleNotAskedFor
    │   ├── WhenNotUnderstood
    │   ├── WhenPassed
    │   ├── WhenTooFar
    │   ├── RepeatNotUnderstood
    │   ├── RepeatTooOften
    │   ├── AttachmentTooLarge
    │   ├── AttachmentNotSupported
    │   └── AttachmentNotFetched
    ├── TurnError               no answer came; asking again may help
    │   ├── Busy                too many of this user's turns wait already
    │   ├── Crowded             everybody's turns take all places
    │   ├── ShuttingDown
    │   │   └── Postponed       the question stays, and is answered after the start
    │   ├── NotNewest           only the newest answer can be regenerated or continued
    │   ├── AgentGone           whoever gave the answer can't be asked here any more
    │   └── ModelError
    │       ├── ModelUnavailable
    │       ├── ModelSaidNothing
    │       ├── ModelRefusedKey
    │       ├── ModelRefusedRequest
    │       └── ContextTooLong      more than the model can take in at once
    ├── StorageError            the database did not do what was asked
    └── StartupError            the operator must mend it; the program ends with exit code 2
        ├── InvalidSetting
        ├── InvalidAgents       the file of agents can't be used as it is
        ├── MissingToken
        ├── RefusedToken
        ├── DiscordUnreachable
        ├── MessageContentRefused
        ├── CommandsNotRegistered
        ├── AlreadyRunning      another bot runs on the same file
        ├── DatabaseFolderMissing
        ├── DatabaseMissing     there is nothing to copy
        ├── DatabaseUnusable
        ├── DatabaseNewer       the file was written by a newer cc-bot
        ├── SqliteTooOld        Python's SQLite lacks what the SQL needs
        └── BackupFailed        the copy could not be written

Each class is explained in every language by the text of the same name (texts/errors.py), which is
formatted with the error's parameters. Neither holds what a user wrote, so both may be logged.
"""


class CcBotError(Exception):
    """The root. Keyword arguments are what its text is formatted with."""

    def __init__(self, **params: str | int) -> None:
        super().__init__(type(self).__name__, params)
        self.params = params


class InputError(CcBotError):
    """What the user gave can't be used as it is."""


class EmptyQuestion(InputError):
    """There is neither text nor an attachment."""


class QuestionTooLong(InputError):
    """Parameters: limit, length (characters)."""


class EmptyMemory(InputError):
    """There is nothing to remember."""


class MemoryTooLong(InputError):
    """Parameters: limit, length (characters)."""


class SecretNotStored(InputError):
    """What was to be remembered looks like a password, token, card or key number."""


class MemoryPaused(InputError):
    """The user wants nothing stored or recalled for now."""


class MemoryNotFound(InputError):
    """The user has no such memory. Parameters: id."""


class NotAskedFor(InputError):
    """A model wanted to change what is remembered, and its user did not ask for that in this turn."""


class ImportNotUnderstood(InputError):
    """A file is not a list of memories."""


class TooManyToImport(InputError):
    """A file has more memories than are taken at a time. Parameters: limit, found."""


class EndNotUnderstood(InputError):
    """What was entered as the day until which a memory holds is no date."""


class UnknownTimezone(InputError):
    """The name is not in the IANA time zone database."""


class UnknownAgent(InputError):
    """There is no such agent, or not here."""


class EmptyReminder(InputError):
    """There is nothing to remind of."""


class ReminderTooLong(InputError):
    """Parameters: limit, length (characters)."""


class TooManySchedules(InputError):
    """The user has as many as one may have. Parameters: limit."""


class ScheduleNotFound(InputError):
    """The user has no such schedule. Parameters: id."""


class ScheduleNotAskedFor(InputError):
    """A model wanted to make or cancel a reminder, and its user did not ask for that in this turn."""


class WhenNotUnderstood(InputError):
    """What was entered as a time is none."""


class WhenPassed(InputError):
    """What was entered as a time is over."""


class WhenTooFar(InputError):
    """What was entered as a time is years away. Parameters: limit (years)."""


class RepeatNotUnderstood(InputError):
    """What was entered as a repeat is none, or never comes."""


class RepeatTooOften(InputError):
    """What was entered as a repeat comes more than once an hour."""


class AttachmentTooLarge(InputError):
    """Parameters: limit (as shown to the user, such as `8 MB`)."""


class AttachmentNotSupported(InputError):
    """Neither an image that models read nor text in a known encoding."""


class AttachmentNotFetched(InputError):
    """Discord did not hand the file over."""


class TurnError(CcBotError):
    """A turn ended without an answer."""


class Busy(TurnError):
    """This user has too many turns waiting."""


class Crowded(TurnError):
    """No place became free for too long."""


class ShuttingDown(TurnError):
    """The program is stopping and takes no new turns."""


class Postponed(ShuttingDown):
    """The program is about to stop, and has the question on record."""


class NotNewest(TurnError):
    """The answer is no longer the newest of an open session."""


class AgentGone(TurnError):
    """The agent that gave an answer is in the file no more, or may not be used there any more."""


class ModelError(TurnError):
    """The model gave no answer."""


class ModelUnavailable(ModelError):
    """No model of the chain answered in time: overloaded, unreachable, or broken."""


class ModelSaidNothing(ModelError):
    """The model ended its answer without a word."""


class ModelRefusedKey(ModelError):
    """The server does not accept the operator's key."""


class ModelRefusedRequest(ModelError):
    """The server does not take the request: an unknown model, or a question it can't handle."""


class ContextTooLong(ModelError):
    """The request has more tokens than the model takes. Parameters: limit (tokens), where the server told."""

    @property
    def limit(self) -> int | None:
        """The most tokens that the model takes; None when the server did not tell."""
        return limit if isinstance(limit := self.params.get("limit"), int) else None


class StorageError(CcBotError):
    """The database did not do what was asked: locked, full, read-only, damaged."""


class StartupError(CcBotError):
    """The program can't start as it is set up."""


class InvalidSetting(StartupError):
    """Parameters: name (the environment variable), expected (an example of a good value)."""


class InvalidAgents(StartupError):
    """Parameters: path, detail (a sentence: which agent, which key, what is expected)."""


class MissingToken(StartupError):
    """DISCORD_TOKEN is not set."""


class RefusedToken(StartupError):
    """Discord does not accept DISCORD_TOKEN."""


class DiscordUnreachable(StartupError):
    """Discord did not answer, or closed the connection for good."""


class MessageContentRefused(StartupError):
    """Discord does not let the bot read all messages (any more)."""


class CommandsNotRegistered(StartupError):
    """An extension did not load or Discord refused the commands. Parameters: detail."""


class AlreadyRunning(StartupError):
    """Another `cc-bot run` uses the same database. Parameters: path."""


class DatabaseFolderMissing(StartupError):
    """The operator named a folder that does not exist. Parameters: path."""


class DatabaseMissing(StartupError):
    """There is no database to copy. Parameters: path."""


class DatabaseUnusable(StartupError):
    """Not a database, damaged, or not readable and writable. Parameters: path."""


class DatabaseNewer(StartupError):
    """Parameters: path, found, known (schema versions)."""


class SqliteTooOld(StartupError):
    """Parameters: found, needed (versions)."""


class BackupFailed(StartupError):
    """The copy could not be written. Parameters: path."""
