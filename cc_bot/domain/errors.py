"""The errors that somebody is told of.

    CcBotError
    ├── InputError              the user can mend it
    │   ├── EmptyQuestion
    │   ├── QuestionTooLong
    │   ├── EmptyMemory
    │   ├── MemoryTooLong
    │   │   └── BesideTooLong   category, tags and the like together
    │   ├── CategoryTooLong
    │   ├── CategoryNeeded      none was given where one is to be put in
    │   ├── TagTooLong
    │   ├── TooManyTags
    │   ├── TooManyMemories
    │   ├── MemoryFull          no room is left for their texts
    │   ├── TooManyPinned
    │   ├── TooManyImports
    │   ├── FilesInLine         their earlier files are not done yet
    │   ├── SecretNotStored
    │   ├── MemoryPaused
    │   ├── MemoryNotFound
    │   ├── TooManyChosen       at once, on a page
    │   ├── ReminderEditOutdated  it says something else by now than what was edited
    │   ├── CanvasSwitched      another agent's canvas is shown by now than the one that was looked at
    │   ├── MemoryHidden        it was deleted, and can be had back
    │   ├── MemoryEditOutdated  it says something else by now than what was edited
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
    │   ├── CallGone            whether a tool of a server is used: decided, withdrawn, or too old
    │   ├── CallExpired         nobody decided on it in time
    │   ├── FieldEmpty          of what a server asks back; so below
    │   ├── FieldNotANumber
    │   ├── FieldNotAWholeNumber
    │   ├── FieldNotYesOrNo
    │   ├── FieldNotAChoice
    │   ├── FieldOutOfBounds
    │   │   └── FieldLengthOutOfBounds  of its text
    │   ├── WhenNotUnderstood
    │   │   └── NoSuchTime      no calendar has it
    │   ├── SeveralTimes        where one was asked for
    │   ├── WhenPassed
    │   ├── WhenTooFar
    │   ├── RepeatNotUnderstood
    │   ├── RepeatTooOften
    │   ├── SubjectNotUnderstood
    │   │   └── IdNotUnderstood     its kind is known, as in a form
    │   ├── ModelsNotUnderstood
    │   ├── ToolServerUnknown       the operator's file names none like that
    │   ├── ToolListNotShown        it is another one than its reader saw
    │   ├── LimitNotUnderstood
    │   ├── LimitNotForChannels
    │   ├── LimitNotForServers
    │   ├── AttachmentTooLarge
    │   ├── AttachmentNotSupported
    │   ├── AttachmentNotFetched
    │   ├── DocumentUnreadable  it is damaged, or takes more than reading it may
    │   ├── DocumentLocked      it has a password
    │   ├── DocumentTooLong
    │   ├── DocumentOldFormat   Word or PowerPoint from before 2007
    │   ├── DocumentsWait       others are read, and its turn did not come
    │   ├── DocumentsNotInstalled  the extra that reads it is not there
    │   ├── DocumentsNotConfined   the system can't confine what reads it
    │   ├── RecordingTooLong
    │   ├── RecordingEmpty      it lasts no time
    │   ├── RecordingRefused    the server that hears does not take it
    │   ├── NothingHeard        in a recording
    │   ├── NobodyListens       there is no model that hears
    │   ├── NothingToRead       a message shows nothing
    │   ├── NothingToTranslate  it has no text
    │   ├── TargetNotShown      a message that was asked about in its menu is out of reach
    │   └── ConversationNotShown  so is what was said from one on
    ├── PageError               a page of the web was not read, or nothing was searched for
    │   ├── AddressRefused      it is none of the web's, or names a user or a port
    │   ├── AddressNotGiven     neither its user nor a search named it
    │   ├── AddressNotPublic    it leads to this machine, or into a network
    │   ├── PageUnreachable
    │   ├── PageGarbled         the answer is not HTTP, breaks off, or is packed in an unknown way
    │   ├── PageTooSlow
    │   ├── PageNotThere        the server answers, with something else
    │   │   └── PageNotNow          for now: it is busy, or has a fault
    │   ├── TooManyRedirects
    │   ├── PageTooLarge
    │   ├── PageKindRefused     it is neither text nor a document
    │   ├── PageUnreadable      there is no text in it
    │   ├── PageIsScan          it is a PDF of pictures
    │   ├── PageTooLong         reading it takes more than it may
    │   ├── PagesWait           others are read, and its turn did not come
    │   ├── PagesNotInstalled   the extra that reads it is not there
    │   ├── PagesOfDocumentsNotInstalled  it is a PDF or Excel, and the extra that reads these is not there
    │   ├── PagesNotConfined    the system can't confine what reads it
    │   └── SearchFailed        the search that the operator named did not answer
    │       └── SearchFormatOff     it answers people, and no programs
    ├── TurnError               no answer came; asking again may help
    │   ├── Busy                too many of this user's turns wait already
    │   ├── Crowded             everybody's turns take all places
    │   ├── ShuttingDown
    │   │   └── Postponed       the question stays, and is answered after the start
    │   ├── NotNewest           only the newest answer can be regenerated or continued
    │   ├── AnswerInUse         nor one of which a call is being made
    │   ├── AnswerUnderway      nor is a call made of one that is just given anew
    │   ├── AgentGone           whoever gave the answer can't be asked here any more
    │   ├── BeingErased         everything of its user's is being erased
    │   ├── LimitReached        what there is for now is used up
    │   │   ├── ServerLimitReached
    │   │   └── TooManyAtOnce   something ends before the next begins
    │   ├── HearingFailed       the server that hears did not do it
    │   │   └── HearingNotSetUp     and will not until the operator sees to it
    │   └── ModelError
    │       ├── ModelUnavailable
    │       │   └── ModelUnreachable    nothing answers at its server's address
    │       ├── ModelSaidNothing
    │       ├── ModelOutOfRoom      it used up its tokens before it said a word
    │       ├── ModelWentInCircles  it called its tools as often as it may, and no word came
    │       ├── ModelRefusedKey
    │       ├── ModelRefusedRequest
    │       │   └── ModelNotFound
    │       └── ContextTooLong      more than the model can take in at once
    ├── ToolServerError         a tool of a server that the operator names was not called, or not to its end
    │   ├── ToolServerAway      it can't be reached; nothing was sent
    │   ├── CallPostponed       its server is not there, so the call waits on; nothing was sent
    │   ├── ToolGone            it has no such tool any more; nothing was sent
    │   ├── CallOutdated        the tool or the rules for it changed while the call waited; nothing was sent
    │   ├── ToolTimedOut        it did not answer in time
    │   ├── ToolCallLost        it was lost on the way: nobody knows whether the call was made
    │   ├── SecretAsked         it asked back for a secret, which was declined
    │   ├── FormUnsuitable      it asked back in a way that is no form of texts, which was declined
    │   └── QuestionUnclear     it asked back and did not say in which call, which was declined
    ├── AccessError             the operator does not let it be done
    │   ├── NotAllowed
    │   ├── OwnersOnly
    │   ├── TooManyCommands
    │   ├── UnderMaintenance
    │   ├── NotSignedIn         a page belongs to somebody
    │   ├── LinkOver            it signed somebody in already, is too old, or was never made
    │   ├── TooManyLinks        that did not hold
    │   ├── ForeignRequest      another site, or a browser that does not say which, asks for a change
    │   ├── PageOfAnother       somebody else has signed in with that browser since it was opened
    │   ├── ForeignHost         a browser was sent here under a name that is not ours
    │   ├── TooManyRequests     within a second
    │   ├── RequestTooLarge
    │   └── NothingHere         or nothing of theirs
    ├── StorageError            the database did not do what was asked
    │   ├── ConversationGone    it belongs to something that was erased meanwhile
    │   ├── DutyLost            another process does for all by now what was about to be written
    │   ├── TurnLost            another process has ended the turn by now, or all of its user's is erased
    │   ├── ErasureNotNoted     a restore would bring back what is erased
    │   ├── ErasureUnfinished   a part is erased, and the rest goes by itself
    │   ├── DatabaseLocked      another program writes to it, for too long
    │   ├── DatabaseFull        there is no room for more
    │   ├── DatabaseForbidden   the role may not do there what a bot has to
    │   ├── DatabaseReadOnly
    │   │   └── DatabaseSetReadOnly  by a setting of a server that could take changes
    │   ├── DatabaseUnreachable the server is away
    │   ├── DatabaseCrowded     it takes no more connections
    │   ├── PoolerForgets       it keeps no prepared statements, and the URL does not say so
    │   ├── DatabaseImpatient   a setting of the server's has it end what takes longer
    │   ├── CommitUncertain     the server was lost before it said whether something is kept
    │   └── DatabaseDamaged     what the file holds contradicts itself
    └── StartupError            the operator must mend it; the program ends with exit code 2
        ├── InvalidSetting
        ├── UnknownSetting
        ├── ShardCountMissing
        ├── ShardsOutOfRange
        ├── ShardsNotShared     on a file, where nobody can hold the others
        ├── PagesNotEncrypted   other machines would reach them in plain text
        ├── SettingsUnreadable
        ├── InvalidAgents       the file of agents can't be used as it is
        ├── InvalidModels       nor that of model servers
        ├── InvalidPolicy       nor that of limits, prices and access
        ├── InvalidToolServers  nor that of servers with tools
        ├── MissingToken
        ├── RefusedToken
        ├── DiscordUnreachable
        ├── MessageContentRefused
        ├── CommandsNotRegistered
        ├── AlreadyRunning      another bot runs on the same file
        ├── ShardsTaken         another process of the same bot holds what this one is to hold
        ├── DatabaseFolderMissing
        ├── DatabaseInUse       a program has the file open that is to be replaced
        ├── DatabaseMissing     there is nothing to copy
        ├── DatabaseUnusable
        ├── DatabaseNotOurs     it is not replaced or deleted
        ├── DatabaseNewer       the file was written by a newer cc-bot
        ├── SchemaChanged       it does by itself what cc-bot did not make
        ├── UpgradeFailed       what it holds does not fit the next version
        ├── SqliteTooOld        Python's SQLite lacks what the SQL needs
        ├── PostgresTooOld
        ├── PostgresNotUtf8     it can't hold Japanese
        ├── PostgresRefused     a password, role or database that the server does not take
        ├── NotAFile            what is asked for is for a file, and the database is on a server
        ├── EngineMissing       the extra of the database that is named is not installed
        ├── ServerInUse         another cc-bot works on the same database
        ├── SameDatabase        as source and target of a copy
        ├── CopySourceMissing
        ├── CopyTargetOccupied  something stands in it already
        ├── CopyStopped         one of the two databases can't be used
        ├── CopyRefused         the target does not take the rows of a table
        ├── ErasuresNotFound
        ├── ErasuresBroken      a line of the record can't be read
        ├── BackupFailed        the copy could not be written
        ├── NotEnoughRoom       there is no room for it
        ├── OutputLost          what a command says could not be written
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

Each class has a sentence in every language (texts/errors.py), which is formatted with the error's parameters:
a class tells of them only what the sentence does not. Neither holds what a user wrote, so both may be logged.
"""

from datetime import datetime
from typing import TypeVar

Error = TypeVar("Error", bound=BaseException)


class CcBotError(Exception):
    """The root. Keyword arguments are what its text is formatted with; a moment is shown as each front end
    does."""

    def __init__(self, **params: str | int | datetime) -> None:
        super().__init__(type(self).__name__, params)
        self.params = params


def forget_frames(error: Error) -> Error:
    """Drop the tracebacks of an error that was handled, and of those before it. Their frames refer to it in
    turn, and would hold files until the next garbage collection. Returns the error."""
    following: BaseException | None = error
    while following:
        before, following.__context__ = following.__context__, None
        following.__cause__ = following.__traceback__ = None
        following = before
    return error


# ---- access ----------------------------------------------------------------------------------------------


class ToolServerError(CcBotError): ...


class ToolServerAway(ToolServerError):
    """Parameter: server."""


class CallPostponed(ToolServerError):
    """Parameters: server, minutes."""


class ToolGone(ToolServerError):
    """Parameters: server, tool."""


class CallOutdated(ToolServerError):
    """Parameters: server, tool."""


class ToolTimedOut(ToolServerError):
    """Parameters: server, seconds."""


class ToolCallLost(ToolServerError):
    """Parameter: server."""


class SecretAsked(ToolServerError):
    """Parameter: server."""


class FormUnsuitable(ToolServerError):
    """Parameter: server."""


class QuestionUnclear(ToolServerError):
    """Parameter: server."""


class AccessError(CcBotError): ...


class NotAllowed(AccessError): ...


class OwnersOnly(AccessError): ...


class UnderMaintenance(AccessError):
    """Parameters: note (the owner's own words, may be empty)."""


class NotSignedIn(AccessError): ...


class LinkOver(AccessError): ...


class TooManyLinks(AccessError): ...


class ForeignRequest(AccessError): ...


class PageOfAnother(AccessError): ...


class ForeignHost(AccessError): ...


class TooManyRequests(AccessError): ...


class RequestTooLarge(AccessError): ...


class NothingHere(AccessError): ...


class TooManyCommands(AccessError):
    """Parameters: resets (the moment of the next one). `told`: the user was told that already."""

    def __init__(self, *, told: bool = False, **params: str | int | datetime) -> None:
        super().__init__(**params)
        self.told = told


# ---- input -----------------------------------------------------------------------------------------------


class InputError(CcBotError): ...


class EmptyQuestion(InputError): ...


class QuestionTooLong(InputError):
    """Parameters: limit, length (characters)."""


class EmptyMemory(InputError): ...


class MemoryTooLong(InputError):
    """Parameters: limit, length (characters)."""


class BesideTooLong(MemoryTooLong): ...


class CategoryTooLong(InputError):
    """Parameters: limit, length (characters)."""


class CategoryNeeded(InputError): ...


class TagTooLong(InputError):
    """Parameters: limit, length (characters)."""


class TooManyTags(InputError):
    """Parameters: limit, found."""


class TooManyMemories(InputError): ...


class MemoryFull(InputError):
    """Parameters: limit (as shown)."""


class TooManyPinned(InputError): ...


class TooManyImports(InputError):
    """Parameters: resets (the moment of the next one)."""


class FilesInLine(InputError): ...


class SecretNotStored(InputError): ...


class MemoryPaused(InputError): ...


class MemoryNotFound(InputError): ...


class TooManyChosen(InputError):
    """Parameters: limit."""


class ReminderEditOutdated(InputError): ...


class CanvasSwitched(InputError): ...


class MemoryHidden(InputError): ...


class MemoryEditOutdated(InputError):
    """The one that an edit was made from is no longer as it was."""


class ImportNotUnderstood(InputError): ...


class TooManyToImport(InputError):
    """Parameters: limit, found."""


class EndNotUnderstood(InputError): ...


class EndPassed(InputError): ...


class UnknownTimezone(InputError): ...


class UnknownAgent(InputError): ...


class EmptyReminder(InputError): ...


class ReminderTooLong(InputError):
    """Parameters: limit, length (characters)."""


class TooManySchedules(InputError): ...


class ScheduleNotFound(InputError): ...


class ProposalGone(InputError): ...


class ProposalOutdated(InputError): ...


class CallGone(InputError):
    """Parameter: minutes."""


class CallExpired(InputError):
    """Parameter: minutes."""


class FieldEmpty(InputError):
    """Parameter: name, of the field; so below."""


class FieldNotANumber(InputError): ...


class FieldNotAWholeNumber(InputError): ...


class FieldNotYesOrNo(InputError): ...


class FieldNotAChoice(InputError):
    """Parameters: name, known (the choices)."""


class FieldOutOfBounds(InputError):
    """Parameters: name, expected (from and to)."""


class FieldLengthOutOfBounds(FieldOutOfBounds):
    """Parameters: name, expected (characters, from and to)."""


class WhenNotUnderstood(InputError): ...


class NoSuchTime(WhenNotUnderstood): ...


class SeveralTimes(InputError): ...


class WhenPassed(InputError): ...


class WhenTooFar(InputError):
    """Parameters: limit (years)."""


class RepeatNotUnderstood(InputError): ...


class RepeatTooOften(InputError): ...


class SubjectNotUnderstood(InputError): ...


class IdNotUnderstood(SubjectNotUnderstood): ...


class ModelsNotUnderstood(InputError): ...


class ToolServerUnknown(InputError): ...


class ToolListNotShown(InputError): ...


class LimitNotUnderstood(InputError): ...


class LimitNotForServers(InputError): ...


class LimitNotForChannels(InputError): ...


class AttachmentTooLarge(InputError):
    """Parameters: limit (as shown to the user, such as `8 MB`)."""


class AttachmentNotSupported(InputError): ...


class AttachmentNotFetched(InputError): ...


class DocumentUnreadable(InputError): ...


class DocumentLocked(InputError): ...


class DocumentTooLong(InputError): ...


class DocumentOldFormat(InputError): ...


class DocumentsWait(InputError):
    """Others are read, and its turn did not come."""


class DocumentsNotInstalled(InputError): ...


class DocumentsNotConfined(InputError): ...


class RecordingTooLong(InputError):
    """Parameter: minutes (the limit)."""


class RecordingEmpty(InputError): ...


class RecordingRefused(InputError): ...


class NothingHeard(InputError): ...


class NobodyListens(InputError): ...


class NothingToRead(InputError): ...


class NothingToTranslate(InputError): ...


class TargetNotShown(InputError): ...


class ConversationNotShown(InputError): ...


# ---- pages -----------------------------------------------------------------------------------------------


class PageError(CcBotError): ...


class AddressRefused(PageError): ...


class AddressNotGiven(PageError): ...


class AddressNotPublic(PageError):
    """Parameters: host."""


class PageUnreachable(PageError):
    """Parameters: host."""


class PageGarbled(PageError):
    """Parameters: host."""


class PageTooSlow(PageError):
    """Parameters: host, seconds (the limit)."""


class PageNotThere(PageError):
    """Parameters: host, found (the status that its server answered with)."""


class PageNotNow(PageNotThere): ...


class TooManyRedirects(PageError):
    """Parameters: limit."""


class PageTooLarge(PageError):
    """Parameters: limit (MB)."""


class PageKindRefused(PageError): ...


class PageUnreadable(PageError): ...


class PageIsScan(PageError): ...


class PageTooLong(PageError): ...


class PagesWait(PageError): ...


class PagesNotInstalled(PageError): ...


class PagesOfDocumentsNotInstalled(PageError): ...


class PagesNotConfined(PageError): ...


class SearchFailed(PageError): ...


class SearchFormatOff(SearchFailed): ...


# ---- startup ---------------------------------------------------------------------------------------------


class StartupError(CcBotError): ...


class InvalidSetting(StartupError):
    """Parameters: name (the environment variable), expected (an example of a good value)."""


class UnknownSetting(StartupError):
    """Parameters: name, nearest (a setting that there is)."""


class ShardCountMissing(StartupError): ...


class ShardsOutOfRange(StartupError):
    """Parameters: last (the number of the last shard; Discord counts them from 0)."""


class ShardsNotShared(StartupError):
    """Parameters: last, as above."""


class PagesNotEncrypted(StartupError):
    """Parameters: host (where they would be served)."""


class SettingsUnreadable(StartupError): ...


class InvalidAgents(StartupError):
    """Parameters: path, detail (a sentence: which agent, which key, what is expected)."""


class InvalidModels(StartupError):
    """Parameters: path, detail (a sentence: which provider, what is expected)."""


class InvalidToolServers(StartupError):
    """Parameters: path, detail (a sentence: which server, which key, what is expected)."""


class MissingToken(StartupError): ...


class RefusedToken(StartupError): ...


class DiscordUnreachable(StartupError): ...


class MessageContentRefused(StartupError): ...


class CommandsNotRegistered(StartupError): ...


class AlreadyRunning(StartupError): ...


class ShardsTaken(StartupError):
    """Parameters: `host` and `theirs` of the other process; `ours`, the shards of this one."""


class DatabaseInUse(StartupError): ...


class DatabaseFolderMissing(StartupError):
    """Parameters: path, setting (that names it)."""


class DatabaseMissing(StartupError): ...


class DatabaseUnusable(StartupError): ...


class DatabaseNewer(StartupError):
    """Parameters: path, found, known (schema versions)."""


class SchemaChanged(StartupError):
    """Parameters: path, name (of the object, with its kind)."""


class DatabaseNotOurs(StartupError):
    """Parameters: path, command (that does it all the same)."""


class UpgradeFailed(StartupError):
    """Parameters: path, version (that it would have had)."""


class SqliteTooOld(StartupError):
    """Parameters: found, needed (versions)."""


class PostgresTooOld(StartupError):
    """Parameters: found, needed (versions)."""


class PostgresNotUtf8(StartupError):
    """Parameters: url (without a password), found: the encoding of its texts."""


class PostgresRefused(StartupError):
    """Parameters: url (without a password), setting (in which it stands), reason (password, role, database or
    permission)."""


class NotAFile(StartupError):
    """Parameters: command."""


class EngineMissing(StartupError):
    """Parameters: extra."""


class ServerInUse(StartupError): ...


class SameDatabase(StartupError): ...


class CopySourceMissing(StartupError): ...


class CopyTargetOccupied(StartupError):
    """Parameters: path, name (of a table that has rows)."""


class CopyStopped(StartupError):
    """Parameters: path."""


class CopyRefused(StartupError):
    """Parameters: path (of the target), name (of a table)."""


class ErasuresNotFound(StartupError): ...


class ErasuresBroken(StartupError):
    """Parameters: path, line (its number)."""


class BackupFailed(StartupError): ...


class InvalidPolicy(StartupError):
    """Parameters: path, detail (a sentence: which key, what is expected)."""


class PortTaken(StartupError): ...


class NotEnoughRoom(StartupError):
    """Parameters: path, needed, free (as shown)."""


class OldBackupsKept(StartupError):
    """Parameters: made, path (the folder)."""


class OutputLost(StartupError):
    """Parameters: reason."""


class BackupMissing(StartupError): ...


class BackupDamaged(StartupError): ...


class BackupForeign(StartupError):
    """Parameters: path, name (of the object, with its kind), command (that takes the rows alone)."""


class BackupChanged(StartupError):
    """Parameters: path, name (of the object, with its kind)."""


class RestoreFailed(StartupError): ...


class ErasuresMissing(StartupError): ...


class ErasuresUnreadable(StartupError): ...


class ErasuresCut(StartupError):
    """Parameters: path (the backup), name (of the record's copy)."""


class ErasuresThinned(StartupError):
    """Parameters: path, since (the day from which on it is whole)."""


class NotConfirmed(StartupError): ...


# ---- storage ---------------------------------------------------------------------------------------------


class StorageError(CcBotError): ...


class ConversationGone(StorageError): ...


class DutyLost(StorageError): ...


class TurnLost(StorageError): ...


class ErasureNotNoted(StorageError): ...


class ErasureUnfinished(StorageError): ...


class DatabaseLocked(StorageError): ...


class DatabaseFull(StorageError): ...


class DatabaseForbidden(StorageError): ...


class DatabaseReadOnly(StorageError): ...


class DatabaseSetReadOnly(DatabaseReadOnly): ...


class DatabaseUnreachable(StorageError): ...


class DatabaseCrowded(StorageError): ...


class PoolerForgets(StorageError): ...


class DatabaseImpatient(StorageError): ...


class CommitUncertain(StorageError): ...


class DatabaseDamaged(StorageError): ...


# ---- turn ------------------------------------------------------------------------------------------------


class TurnError(CcBotError): ...


class Busy(TurnError): ...


class Crowded(TurnError): ...


class ShuttingDown(TurnError): ...


class Postponed(ShuttingDown): ...


class NotNewest(TurnError): ...


class AnswerInUse(TurnError): ...


class AnswerUnderway(TurnError): ...


class AgentGone(TurnError): ...


class BeingErased(TurnError): ...


class HearingFailed(TurnError): ...


class HearingNotSetUp(HearingFailed): ...


class ModelError(TurnError): ...


class ModelUnavailable(ModelError): ...


class ModelUnreachable(ModelUnavailable):
    """Parameters: host, with its port."""


class ModelSaidNothing(ModelError): ...


class ModelOutOfRoom(ModelError): ...


class ModelWentInCircles(ModelError): ...


class ModelRefusedKey(ModelError): ...


class ModelRefusedRequest(ModelError): ...


class ModelNotFound(ModelRefusedRequest):
    """Parameters: model, as it was named."""


class ContextTooLong(ModelError):
    """Parameters: limit (tokens), where the server told."""

    @property
    def limit(self) -> int | None:
        """The most tokens that the model takes; None when the server did not tell."""
        return limit if isinstance(limit := self.params.get("limit"), int) else None


class LimitReached(TurnError):
    """Parameters: what (the limit's name), resets (the moment from which on there is something again)."""


class ServerLimitReached(LimitReached):
    """Parameters: as above."""


class TooManyAtOnce(LimitReached):
    """Parameters: what."""
