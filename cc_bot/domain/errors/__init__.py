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
    │   ├── LimitReached        what there is for now is used up
    │   └── ModelError
    │       ├── ModelUnavailable
    │       ├── ModelSaidNothing
    │       ├── ModelRefusedKey
    │       ├── ModelRefusedRequest
    │       └── ContextTooLong      more than the model can take in at once
    ├── AccessError             the operator does not let it be done
    │   ├── NotAllowed
    │   ├── OwnersOnly
    │   └── UnderMaintenance
    ├── StorageError            the database did not do what was asked
    │   └── DatabaseDamaged     what the file holds contradicts itself
    └── StartupError            the operator must mend it; the program ends with exit code 2
        ├── InvalidSetting
        ├── InvalidAgents       the file of agents can't be used as it is
        ├── InvalidPolicy       nor that of limits, prices and access
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
        ├── BackupFailed        the copy could not be written
        ├── NotEnoughRoom       there is no room for it
        ├── RestoreRefused      the backup can't be put in place
        ├── ErasuresMissing     nobody can tell who has to be forgotten in it
        ├── NotConfirmed        what can't be undone was not confirmed
        └── PortTaken           another program listens there

Each class is explained in every language by the text of the same name (texts/errors.py), which is
formatted with the error's parameters. Neither holds what a user wrote, so both may be logged.
"""

from cc_bot.domain.errors.access import (
    AccessError,
    NotAllowed,
    OwnersOnly,
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
    ImportNotUnderstood,
    InputError,
    MemoryNotFound,
    MemoryPaused,
    MemoryTooLong,
    NotAskedFor,
    QuestionTooLong,
    ReminderTooLong,
    RepeatNotUnderstood,
    RepeatTooOften,
    ScheduleNotAskedFor,
    ScheduleNotFound,
    SecretNotStored,
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
    BackupFailed,
    CommandsNotRegistered,
    DatabaseFolderMissing,
    DatabaseMissing,
    DatabaseNewer,
    DatabaseUnusable,
    DiscordUnreachable,
    ErasuresMissing,
    InvalidAgents,
    InvalidPolicy,
    InvalidSetting,
    MessageContentRefused,
    MissingToken,
    NotConfirmed,
    NotEnoughRoom,
    PortTaken,
    RefusedToken,
    RestoreRefused,
    SqliteTooOld,
    StartupError,
)
from cc_bot.domain.errors.storage import (
    DatabaseDamaged,
    StorageError,
)
from cc_bot.domain.errors.turn import (
    AgentGone,
    Busy,
    ContextTooLong,
    Crowded,
    LimitReached,
    ModelError,
    ModelRefusedKey,
    ModelRefusedRequest,
    ModelSaidNothing,
    ModelUnavailable,
    NotNewest,
    Postponed,
    ShuttingDown,
    TurnError,
)

__all__ = [
    "AccessError",
    "AgentGone",
    "AlreadyRunning",
    "AttachmentNotFetched",
    "AttachmentNotSupported",
    "AttachmentTooLarge",
    "BackupFailed",
    "Busy",
    "CcBotError",
    "CommandsNotRegistered",
    "ContextTooLong",
    "Crowded",
    "DatabaseDamaged",
    "DatabaseFolderMissing",
    "DatabaseMissing",
    "DatabaseNewer",
    "DatabaseUnusable",
    "DiscordUnreachable",
    "EmptyMemory",
    "EmptyQuestion",
    "EmptyReminder",
    "EndNotUnderstood",
    "ErasuresMissing",
    "ImportNotUnderstood",
    "InputError",
    "InvalidAgents",
    "InvalidPolicy",
    "InvalidSetting",
    "LimitReached",
    "MemoryNotFound",
    "MemoryPaused",
    "MemoryTooLong",
    "MessageContentRefused",
    "MissingToken",
    "ModelError",
    "ModelRefusedKey",
    "ModelRefusedRequest",
    "ModelSaidNothing",
    "ModelUnavailable",
    "NotAllowed",
    "NotAskedFor",
    "NotConfirmed",
    "NotEnoughRoom",
    "NotNewest",
    "OwnersOnly",
    "PortTaken",
    "Postponed",
    "QuestionTooLong",
    "RefusedToken",
    "ReminderTooLong",
    "RepeatNotUnderstood",
    "RepeatTooOften",
    "RestoreRefused",
    "ScheduleNotAskedFor",
    "ScheduleNotFound",
    "SecretNotStored",
    "ShuttingDown",
    "SqliteTooOld",
    "StartupError",
    "StorageError",
    "TooManySchedules",
    "TooManyToImport",
    "TurnError",
    "UnderMaintenance",
    "UnknownAgent",
    "UnknownTimezone",
    "WhenNotUnderstood",
    "WhenPassed",
    "WhenTooFar",
]
