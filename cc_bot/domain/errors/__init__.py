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

from cc_bot.domain.errors.access import (
    AccessError,
    NotAllowed,
    OwnersOnly,
    TooManyCommands,
    UnderMaintenance,
)
from cc_bot.domain.errors.input import (
    AttachmentNotFetched,
    AttachmentNotSupported,
    AttachmentTooLarge,
    EmptyMemory,
    EmptyQuestion,
    EmptyReminder,
    EndNotUnderstood,
    EndPassed,
    FilesInLine,
    ImportNotUnderstood,
    InputError,
    LimitNotForChannels,
    LimitNotForServers,
    MemoryFull,
    MemoryNotFound,
    MemoryPaused,
    MemoryTooLong,
    ModelsNotUnderstood,
    NoSuchTime,
    ProposalGone,
    ProposalOutdated,
    QuestionTooLong,
    ReminderTooLong,
    RepeatNotUnderstood,
    RepeatTooOften,
    ScheduleNotFound,
    SecretNotStored,
    SeveralTimes,
    SubjectNotUnderstood,
    TooManyImports,
    TooManyMemories,
    TooManyPinned,
    TooManySchedules,
    TooManyToImport,
    UnknownAgent,
    UnknownTimezone,
    WhenNotUnderstood,
    WhenPassed,
    WhenTooFar,
)
from cc_bot.domain.errors.root import (
    CcBotError,
)
from cc_bot.domain.errors.startup import (
    AlreadyRunning,
    BackupChanged,
    BackupDamaged,
    BackupFailed,
    BackupForeign,
    BackupMissing,
    CommandsNotRegistered,
    DatabaseFolderMissing,
    DatabaseInUse,
    DatabaseMissing,
    DatabaseNewer,
    DatabaseNotOurs,
    DatabaseUnusable,
    DiscordUnreachable,
    ErasuresCut,
    ErasuresMissing,
    ErasuresThinned,
    ErasuresUnreadable,
    InvalidAgents,
    InvalidPolicy,
    InvalidSetting,
    MessageContentRefused,
    MissingToken,
    NotConfirmed,
    NotEnoughRoom,
    OldBackupsKept,
    PortTaken,
    RefusedToken,
    RestoreFailed,
    SchemaChanged,
    SettingsUnreadable,
    SqliteTooOld,
    StartupError,
    UpgradeFailed,
)
from cc_bot.domain.errors.storage import (
    ConversationGone,
    DatabaseDamaged,
    DatabaseFull,
    DatabaseLocked,
    DatabaseReadOnly,
    ErasureNotNoted,
    StorageError,
)
from cc_bot.domain.errors.turn import (
    AgentGone,
    BeingErased,
    Busy,
    ContextTooLong,
    Crowded,
    LimitReached,
    ModelError,
    ModelNotFound,
    ModelRefusedKey,
    ModelRefusedRequest,
    ModelSaidNothing,
    ModelUnavailable,
    ModelWentInCircles,
    NotNewest,
    Postponed,
    ServerLimitReached,
    ShuttingDown,
    TooManyAtOnce,
    TurnError,
)

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
