"""The errors that are shown to a user, the operator or the model."""

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


class DatabaseNotOurs(StartupError): ...


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


class BackupChanged(StartupError):
    """Parameters: path, name (of the object, with its kind)."""


class RestoreFailed(StartupError): ...


class ErasuresMissing(StartupError): ...


class ErasuresUnreadable(StartupError): ...


class ErasuresCut(StartupError):
    """Parameters: path (the backup), name (of the record's copy)."""


class NotConfirmed(StartupError): ...


# ---- storage ---------------------------------------------------------------------------------------------


class StorageError(CcBotError): ...


class ConversationGone(StorageError): ...


class TurnLost(StorageError): ...


class ErasureNotNoted(StorageError): ...


class ErasureUnfinished(StorageError): ...


class DatabaseLocked(StorageError): ...


class DatabaseFull(StorageError): ...


class DatabaseForbidden(StorageError): ...


class DatabaseReadOnly(StorageError): ...


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
