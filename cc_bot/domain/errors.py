"""Everything that can go wrong and that somebody is told of.

    CcBotError
    ├── InputError              the user can mend it
    │   ├── EmptyQuestion
    │   ├── QuestionTooLong
    │   ├── EmptyMemory
    │   ├── MemoryTooLong
    │   ├── TooManyMemories
    │   ├── MemoryFull          no room is left for their texts
    │   ├── TooManyPinned
    │   ├── TooManyImports
    │   ├── FilesInLine         their earlier files are not done yet
    │   ├── SecretNotStored
    │   ├── MemoryPaused
    │   ├── MemoryNotFound
    │   ├── ImportNotUnderstood
    │   ├── TooManyToImport
    │   ├── EndNotUnderstood
    │   ├── EndPassed
    │   ├── UnknownTimezone
    │   ├── UnknownAgent
    │   ├── EmptyReminder
    │   ├── ReminderTooLong
    │   ├── TooManySchedules
    │   ├── ScheduleNotFound
    │   ├── ProposalGone        decided, or too old
    │   ├── ProposalOutdated    what it would change is another by now
    │   ├── WhenNotUnderstood
    │   │   └── NoSuchTime      no calendar has it
    │   ├── SeveralTimes        where one was asked for
    │   ├── WhenPassed
    │   ├── WhenTooFar
    │   ├── RepeatNotUnderstood
    │   ├── RepeatTooOften
    │   ├── SubjectNotUnderstood
    │   ├── ModelsNotUnderstood
    │   ├── LimitNotForChannels
    │   ├── LimitNotForServers
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
    │   ├── BeingErased         everything of its user's is being erased
    │   ├── LimitReached        what there is for now is used up
    │   │   ├── ServerLimitReached
    │   │   └── TooManyAtOnce   something ends before the next begins
    │   └── ModelError
    │       ├── ModelUnavailable
    │       ├── ModelSaidNothing
    │       ├── ModelWentInCircles  it called its tools as often as it may, and no word came
    │       ├── ModelRefusedKey
    │       ├── ModelRefusedRequest
    │       │   └── ModelNotFound
    │       └── ContextTooLong      more than the model can take in at once
    ├── AccessError             the operator does not let it be done
    │   ├── NotAllowed
    │   ├── OwnersOnly
    │   ├── TooManyCommands
    │   └── UnderMaintenance
    ├── StorageError            the database did not do what was asked
    │   ├── ConversationGone    it belongs to something that was erased meanwhile
    │   ├── ErasureNotNoted     a restore would bring back what is erased
    │   ├── DatabaseLocked      another program writes to it, for too long
    │   ├── DatabaseFull        there is no room for more
    │   ├── DatabaseReadOnly
    │   └── DatabaseDamaged     what the file holds contradicts itself
    └── StartupError            the operator must mend it; the program ends with exit code 2
        ├── InvalidSetting
        ├── SettingsUnreadable
        ├── InvalidAgents       the file of agents can't be used as it is
        ├── InvalidPolicy       nor that of limits, prices and access
        ├── MissingToken
        ├── RefusedToken
        ├── DiscordUnreachable
        ├── MessageContentRefused
        ├── CommandsNotRegistered
        ├── AlreadyRunning      another bot runs on the same file
        ├── DatabaseFolderMissing
        ├── DatabaseInUse       a program has the file open that is to be replaced
        ├── DatabaseMissing     there is nothing to copy
        ├── DatabaseUnusable
        ├── DatabaseNotOurs     it is not replaced or deleted
        ├── DatabaseNewer       the file was written by a newer cc-bot
        ├── SchemaChanged       it does by itself what cc-bot did not make
        ├── UpgradeFailed       what it holds does not fit the next version
        ├── SqliteTooOld        Python's SQLite lacks what the SQL needs
        ├── BackupFailed        the copy could not be written
        ├── NotEnoughRoom       there is no room for it
        ├── OldBackupsKept      the copy was made, older ones could not be deleted
        ├── BackupMissing       there is nothing to restore
        ├── BackupDamaged       it is not whole, or no database of cc-bot
        ├── BackupForeign       it holds what cc-bot does not make
        ├── BackupChanged       a table of it is not as cc-bot makes it
        ├── RestoreFailed       the backup could not be put in place
        ├── ErasuresMissing     nobody can tell who has to be forgotten in it
        ├── ErasuresUnreadable  likewise
        ├── ErasuresCut         likewise, of a part of them
        ├── ErasuresThinned     nobody can tell it of so old a backup
        ├── NotConfirmed        what can't be undone was not confirmed
        └── PortTaken           another program listens there

Each class is explained in every language by the text of the same name (texts/errors.py), which is
formatted with the error's parameters. Neither holds what a user wrote, so both may be logged.
"""

from datetime import datetime

__all__ = [
    "AccessError",
    "AgentGone",
    "AlreadyRunning",
    "AttachmentNotFetched",
    "AttachmentNotSupported",
    "AttachmentTooLarge",
    "BackupChanged",
    "BackupDamaged",
    "BackupFailed",
    "BackupForeign",
    "BackupMissing",
    "BeingErased",
    "Busy",
    "CcBotError",
    "CommandsNotRegistered",
    "ContextTooLong",
    "ConversationGone",
    "Crowded",
    "DatabaseDamaged",
    "DatabaseFolderMissing",
    "DatabaseFull",
    "DatabaseInUse",
    "DatabaseLocked",
    "DatabaseMissing",
    "DatabaseNewer",
    "DatabaseNotOurs",
    "DatabaseReadOnly",
    "DatabaseUnusable",
    "DiscordUnreachable",
    "EmptyMemory",
    "EmptyQuestion",
    "EmptyReminder",
    "EndNotUnderstood",
    "EndPassed",
    "ErasureNotNoted",
    "ErasuresCut",
    "ErasuresMissing",
    "ErasuresThinned",
    "ErasuresUnreadable",
    "FilesInLine",
    "ImportNotUnderstood",
    "InputError",
    "InvalidAgents",
    "InvalidPolicy",
    "InvalidSetting",
    "LimitNotForChannels",
    "LimitNotForServers",
    "LimitReached",
    "MemoryFull",
    "MemoryNotFound",
    "MemoryPaused",
    "MemoryTooLong",
    "MessageContentRefused",
    "MissingToken",
    "ModelError",
    "ModelNotFound",
    "ModelRefusedKey",
    "ModelRefusedRequest",
    "ModelSaidNothing",
    "ModelUnavailable",
    "ModelWentInCircles",
    "ModelsNotUnderstood",
    "NoSuchTime",
    "NotAllowed",
    "NotConfirmed",
    "NotEnoughRoom",
    "NotNewest",
    "OldBackupsKept",
    "OwnersOnly",
    "PortTaken",
    "Postponed",
    "ProposalGone",
    "ProposalOutdated",
    "QuestionTooLong",
    "RefusedToken",
    "ReminderTooLong",
    "RepeatNotUnderstood",
    "RepeatTooOften",
    "RestoreFailed",
    "ScheduleNotFound",
    "SchemaChanged",
    "SecretNotStored",
    "ServerLimitReached",
    "SettingsUnreadable",
    "SeveralTimes",
    "ShuttingDown",
    "SqliteTooOld",
    "StartupError",
    "StorageError",
    "SubjectNotUnderstood",
    "TooManyAtOnce",
    "TooManyCommands",
    "TooManyImports",
    "TooManyMemories",
    "TooManyPinned",
    "TooManySchedules",
    "TooManyToImport",
    "TurnError",
    "UnderMaintenance",
    "UnknownAgent",
    "UnknownTimezone",
    "UpgradeFailed",
    "WhenNotUnderstood",
    "WhenPassed",
    "WhenTooFar",
]

# ---- root ------------------------------------------------------------------------------------------------
# The root of all errors that somebody is told of.


class CcBotError(Exception):
    """The root. Keyword arguments are what its text is formatted with; a moment is shown as each front end
    does."""

    def __init__(self, **params: str | int | datetime) -> None:
        super().__init__(type(self).__name__, params)
        self.params = params


# ---- access ----------------------------------------------------------------------------------------------
# What the operator does not allow.


class AccessError(CcBotError):
    """The operator does not let this be done here, or by this user, or now."""


class NotAllowed(AccessError):
    """The operator does not let this user, or anybody in this place, use the bot."""


class OwnersOnly(AccessError):
    """Only the bot's owners may do this."""


class UnderMaintenance(AccessError):
    """For now nobody but owners is answered. Parameters: note (the owner's own words, may be empty)."""


class TooManyCommands(AccessError):
    """The user has used as many commands and buttons as they may for now. Parameters: resets (the moment of
    the next one)."""


# ---- input -----------------------------------------------------------------------------------------------
# What a user gave can't be used as it is; they can mend it.


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


class TooManyMemories(InputError):
    """The user keeps as many as they may. Parameters: limit."""


class MemoryFull(InputError):
    """The texts of the user's memories take all the room that they may. Parameters: limit (as shown)."""


class TooManyPinned(InputError):
    """The user has pinned as many as one may. Parameters: limit."""


class TooManyImports(InputError):
    """The user has imported as often as they may for now. Parameters: resets (the moment of the next one)."""


class FilesInLine(InputError):
    """As many files of the user's wait as may; those before have to be done first."""


class SecretNotStored(InputError):
    """What was to be remembered looks like a password, token, card or key number."""


class MemoryPaused(InputError):
    """The user wants nothing stored or recalled for now."""


class MemoryNotFound(InputError):
    """The user has no such memory. Parameters: id."""


class ImportNotUnderstood(InputError):
    """A file is not a list of memories."""


class TooManyToImport(InputError):
    """A file has more memories than are taken at a time. Parameters: limit, found."""


class EndNotUnderstood(InputError):
    """What was entered as the day until which a memory holds is no date."""


class EndPassed(InputError):
    """What was entered as the day until which a memory holds is over."""


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


class ProposalGone(InputError):
    """The proposal was decided already, or nobody decided it in time."""


class ProposalOutdated(InputError):
    """What the proposal would change has changed since, or is gone."""


class WhenNotUnderstood(InputError):
    """What was entered as a time is none."""


class NoSuchTime(WhenNotUnderstood):
    """What was entered is a date or time that no calendar or clock has: 2月30日, 25:99."""


class SeveralTimes(InputError):
    """What was entered as one time are several."""


class WhenPassed(InputError):
    """What was entered as a time is over."""


class WhenTooFar(InputError):
    """What was entered as a time is years away. Parameters: limit (years)."""


class RepeatNotUnderstood(InputError):
    """What was entered as a repeat is none, or never comes."""


class RepeatTooOften(InputError):
    """What was entered as a repeat comes more than once an hour."""


class SubjectNotUnderstood(InputError):
    """What was entered as a user, role, channel or server is none."""


class ModelsNotUnderstood(InputError):
    """What was entered as names of models is not a list of them."""


class LimitNotForServers(InputError):
    """What a user keeps or does is limited by user, not for a server together."""


class LimitNotForChannels(InputError):
    """A limit is for users, roles and servers."""


class AttachmentTooLarge(InputError):
    """Parameters: limit (as shown to the user, such as `8 MB`)."""


class AttachmentNotSupported(InputError):
    """Neither an image that models read nor text in a known encoding."""


class AttachmentNotFetched(InputError):
    """Discord did not hand the file over."""


# ---- startup ---------------------------------------------------------------------------------------------
# The operator must mend it; the program ends with exit code 2.


class StartupError(CcBotError):
    """The program can't start as it is set up."""


class InvalidSetting(StartupError):
    """Parameters: name (the environment variable), expected (an example of a good value)."""


class SettingsUnreadable(StartupError):
    """There is a file of settings, but the program may not read it. Parameters: path."""


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


class DatabaseInUse(StartupError):
    """Some program has the file open, and it may not be replaced under it. Parameters: path."""


class DatabaseFolderMissing(StartupError):
    """The operator named a folder that does not exist. Parameters: path."""


class DatabaseMissing(StartupError):
    """There is no database to copy. Parameters: path."""


class DatabaseUnusable(StartupError):
    """Not a database, damaged, or not readable and writable. Parameters: path."""


class DatabaseNewer(StartupError):
    """Parameters: path, found, known (schema versions)."""


class SchemaChanged(StartupError):
    """Somebody changed what the database does by itself. Parameters: path, name (of the object, with its
    kind)."""


class DatabaseNotOurs(StartupError):
    """What would be replaced or deleted is no database of cc-bot. Parameters: path, command (that does it all
    the same)."""


class UpgradeFailed(StartupError):
    """The database holds what a migration can't take; it is as it was before that. Parameters: path, version
    (that it would have had)."""


class SqliteTooOld(StartupError):
    """Parameters: found, needed (versions)."""


class BackupFailed(StartupError):
    """The copy could not be written. Parameters: path."""


class InvalidPolicy(StartupError):
    """The file of limits, prices and access can't be used as it is. Parameters: path, detail (a sentence:
    which key, what is expected)."""


class PortTaken(StartupError):
    """Another program listens where the health check and the metrics should be. Parameters: host, port."""


class NotEnoughRoom(StartupError):
    """The disk has too little room for a copy. Parameters: path, needed, free (as shown)."""


class OldBackupsKept(StartupError):
    """The copy was made, but older ones could not be deleted. Parameters: made, path (the folder)."""


class BackupMissing(StartupError):
    """There is nothing to restore. Parameters: path."""


class BackupDamaged(StartupError):
    """It is no database of cc-bot, not whole, or not what its manifest says. Parameters: path."""


class BackupForeign(StartupError):
    """It holds what cc-bot does not make, beside its own. Parameters: path, name (of the object, with its
    kind), command (that takes the rows alone)."""


class BackupChanged(StartupError):
    """What it holds is not as cc-bot makes it. Parameters: path, name (of the object, with its kind)."""


class RestoreFailed(StartupError):
    """The backup could not be put in place; the database is as it was. Parameters: path."""


class ErasuresMissing(StartupError):
    """Nobody can tell who has to be forgotten again in a backup. Parameters: path."""


class ErasuresUnreadable(StartupError):
    """A record of who has to be forgotten again can't be read. Parameters: path."""


class ErasuresCut(StartupError):
    """A backup knows of more than the record of erasures has. Parameters: path (the backup), name (of the
    record's copy)."""


class ErasuresThinned(StartupError):
    """The backup is older than the record of who has to be forgotten goes back. Parameters: path, since (the
    day from which on it is whole)."""


class NotConfirmed(StartupError):
    """What can't be undone was not confirmed. Parameters: command."""


# ---- storage ---------------------------------------------------------------------------------------------
# The database did not do what was asked.


class StorageError(CcBotError):
    """The database did not do what was asked: locked, full, read-only, damaged."""


class ConversationGone(StorageError):
    """What was to be stored belongs to something that was erased meanwhile, perhaps by another program."""


class ErasureNotNoted(StorageError):
    """What is to be erased can't be noted, so that a restore would bring it back."""


class DatabaseLocked(StorageError):
    """Another program writes to it, and did not end in time."""


class DatabaseFull(StorageError):
    """There is no room left where it stands."""


class DatabaseReadOnly(StorageError):
    """It may be read, and not written to."""


class DatabaseDamaged(StorageError):
    """What the file holds contradicts itself: a copy has to take its place."""


# ---- turn ------------------------------------------------------------------------------------------------
# A turn ended without an answer; asking again may help.


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


class BeingErased(TurnError):
    """Everything of the user's is being erased, so nothing of this turn is kept."""


class ModelError(TurnError):
    """The model gave no answer."""


class ModelUnavailable(ModelError):
    """No model of the chain answered in time: overloaded, unreachable, or broken."""


class ModelSaidNothing(ModelError):
    """The model ended its answer without a word."""


class ModelWentInCircles(ModelError):
    """The model called its tools as often as it may, and came to no answer."""


class ModelRefusedKey(ModelError):
    """The server does not accept the operator's key."""


class ModelRefusedRequest(ModelError):
    """The server does not take the request: most often a question that it can't handle."""


class ModelNotFound(ModelRefusedRequest):
    """The server has no such model, or is not where it is looked for. Parameters: model, as it was named."""


class ContextTooLong(ModelError):
    """The request has more tokens than the model takes. Parameters: limit (tokens), where the server told."""

    @property
    def limit(self) -> int | None:
        """The most tokens that the model takes; None when the server did not tell."""
        return limit if isinstance(limit := self.params.get("limit"), int) else None


class LimitReached(TurnError):
    """The user has used what there is for now. Parameters: what (the limit's name), resets (the moment from
    which on there is something again)."""


class ServerLimitReached(LimitReached):
    """The members of the server together have used what there is for now. Parameters: as above."""


class TooManyAtOnce(LimitReached):
    """As many turns are on their way as may be. Parameters: what."""
