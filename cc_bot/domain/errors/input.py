"""What a user gave can't be used as it is; they can mend it."""

from cc_bot.domain.errors.root import CcBotError


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
