"""Whether a turn does what its model calls, or proposes it.

A model obeys whatever it reads, so what it may do hangs on what it has read, and on nothing that the question
says: words were tried, and each list of them let through what it was to hold back and held back what its user
wanted. In a turn that has read its user's own words alone, the model does what it calls. As soon as anything
else was read (a file, a quotation, a channel, what came of those), each change is a proposal that its user
confirms.

Deleting and changing what is there takes more: one memory a turn, and one that its user was shown.
"""

from typing import Any, Final

from cc_bot.tools.registry import InvalidToolCall, ToolContext

PROPOSED: Final[dict[str, Any]] = {
    "proposed": True,
    "note": "Nothing is changed yet: below your answer the user sees exactly this, and can have it done or "
    "not. Say that they can decide there, and do not say that it is done.",
}
"""What a model is told of a change that is left to the user."""


def must_propose(context: ToolContext) -> bool:
    """Whether a change is left to the user. Raises InvalidToolCall where there is nobody to ask."""
    if context.tainted and not context.can_propose:
        raise InvalidToolCall("Nothing can be changed here.")
    return context.tainted


def must_propose_changing(context: ToolContext, memory_id: int) -> bool:
    """Whether changing or deleting this memory is left to the user. Raises as must_propose does."""
    if must_propose(context):
        return True
    if memory_id in context.made:
        return False
    return memory_id not in context.recalled or context.changing > 1
