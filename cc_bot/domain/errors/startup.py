"""The operator must mend it; the program ends with exit code 2."""

from cc_bot.domain.errors.root import CcBotError


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
