"""The offline model: what answers when no key is set.

It understands nothing. It folds words, counts which of them a question shares with what it was told, and
says honestly when that is too little. One file an idea: fold, english, japanese (words), terms (what a
text is about), beings (whose), concepts (said in many ways), facts, questions, matching, commands
(`remember …`), about_talk, wording (how a fact is said back), replies (what to do), model.
"""

from cc_bot.llm.offline.model import OfflineModel

__all__ = ["OfflineModel"]
