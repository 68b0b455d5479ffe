"""The statements that touch users' data without a user's id: all of them, in one place.

Every other statement names its user in its WHERE clause, so that no mistake above the stores can show one
user what is another's. Those here serve all users at once by their nature. Those of channels have no user at
all: they stand beside the stores that run them, and are named here. A test records what the stores run and
fails on any statement without a user that does not stand here.
"""

from typing import Final

from cc_bot.stores.blocks import BLOCK_STATEMENTS
from cc_bot.stores.canvases import CANVAS_STATEMENTS
from cc_bot.stores.channels import (
    CHANNEL_STATEMENTS,
    REMOVAL_STATEMENTS,
    SELECT_DIRECT,
    SELECT_KNOWN,
    SELECT_SAID,
)
from cc_bot.stores.claimed_calls import CLAIM_STATEMENTS
from cc_bot.stores.history import SELECT_FILE_BYTES
from cc_bot.stores.ledger import LEDGER_STATEMENTS
from cc_bot.stores.members import USAGE_STATEMENTS
from cc_bot.stores.memory.copies import DROP_CALLS_OF_QUESTIONS, NOTE_CHANNEL_CALLS, SELECT_CHANNEL_QUESTIONS
from cc_bot.stores.memory.meaning import VECTOR_STATEMENTS
from cc_bot.stores.memory.removal import ERASURE_STATEMENTS, SELECT_DUE, SELECT_OLDEST_HIDDEN
from cc_bot.stores.memory.upkeep import UPKEEP_STATEMENTS
from cc_bot.stores.mentions import MENTION_STATEMENTS
from cc_bot.stores.personal_data import CHANNEL_READING_STATEMENTS
from cc_bot.stores.personal_erasure import PERSONAL_ERASURE_STATEMENTS
from cc_bot.stores.proposals import DROP_OF_CHANNEL_ANSWER, INSERT_CHANNEL_PROPOSAL, PRUNE_PROPOSALS, PUT_BACK
from cc_bot.stores.receipts import SELECT_STALE_RECEIPTS
from cc_bot.stores.retention import RETENTION_STATEMENTS, VITAL_STATEMENTS
from cc_bot.stores.schedules import SCHEDULE_STATEMENTS
from cc_bot.stores.sessions import CLOSE_EXPIRED, DELETE_ATTACHMENTS_OF_EXPIRED
from cc_bot.stores.summaries import SELECT_TO_SUMMARIZE, SETTLE_SUMMARIZED
from cc_bot.stores.web_sessions import WEB_STATEMENTS

UNSCOPED: Final = frozenset(
    {
        *(DELETE_ATTACHMENTS_OF_EXPIRED, CLOSE_EXPIRED, SELECT_FILE_BYTES),
        *(SELECT_TO_SUMMARIZE, SETTLE_SUMMARIZED),
        *(SELECT_DIRECT, SELECT_KNOWN, SELECT_SAID),
        *(SELECT_DUE, SELECT_OLDEST_HIDDEN),
        *(DROP_CALLS_OF_QUESTIONS, NOTE_CHANNEL_CALLS, SELECT_CHANNEL_QUESTIONS, *ERASURE_STATEMENTS),
        *LEDGER_STATEMENTS,
        SELECT_STALE_RECEIPTS,
        *CLAIM_STATEMENTS,
        *(*PERSONAL_ERASURE_STATEMENTS, *CHANNEL_READING_STATEMENTS, *RETENTION_STATEMENTS),
        *CANVAS_STATEMENTS,
        *SCHEDULE_STATEMENTS,
        *(DROP_OF_CHANNEL_ANSWER, INSERT_CHANNEL_PROPOSAL, PRUNE_PROPOSALS, PUT_BACK),
        *USAGE_STATEMENTS,
        *VECTOR_STATEMENTS,
        *VITAL_STATEMENTS,
        *WEB_STATEMENTS,
        *UPKEEP_STATEMENTS,
        *(*BLOCK_STATEMENTS, *CHANNEL_STATEMENTS, *REMOVAL_STATEMENTS, *MENTION_STATEMENTS),
    }
)
