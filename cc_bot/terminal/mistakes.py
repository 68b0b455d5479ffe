"""What to say about a command that can't be run: one sentence that names the way out."""

import re

from cc_bot.terminal.commands import CommandName, Misused, Unknown
from cc_bot.terminal.printable import one_line
from cc_bot.texts import Texts
from cc_bot.texts.terminal_manuals import Manual


def explain_unknown(mistake: Unknown, words: Texts) -> str:
    given = one_line(mistake.given, 40)
    if mistake.nearest is None:
        return words.terminal.unknown.format(given=given)
    return words.terminal.unknown_near.format(given=given, nearest=f"/{mistake.nearest}")


def explain_misuse(mistake: Misused, words: Texts) -> str:
    if mistake.problem == "argument":
        usage = manual(mistake.command, words).usage
        return words.terminal.misused.format(given=one_line(mistake.given, 40), usage=usage)
    sentences = {
        "id": words.memory.id_needed,
        "query": words.memory.query_needed,
        "path": words.terminal.path_needed,
        "memory file": words.terminal.memory_file_needed,
        "agent": words.terminal.agent_needed,
        "reminder": words.remind_here.id_needed,
        "proposal": words.terminal.proposal_needed,
        "subcommand": words.terminal.memory_needs_more,
    }
    return sentences[mistake.problem]


def manual(command: CommandName, words: Texts) -> Manual:
    """What the help says about a command."""
    field = "continue_" if command == "continue" else re.sub("[ -]", "_", command)
    found: Manual = getattr(words.terminal.commands, field)
    return found
