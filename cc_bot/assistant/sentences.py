"""An answer as sentences that are the bot's own: code and quotations are not what it says. However long an
answer is, the time that this takes only grows with it."""

import re
from typing import Final

LOOKED_AT: Final = 4000
"""Characters at either end of an answer: nobody promises in the middle of a long one."""

# A quotation ends before the next one begins: looking from each mark to the end of the answer for the other
# mark takes the square of its length.
_NOT_SAID: Final = re.compile(
    r"```(?s:.*?)(?:```|\Z)|`[^`\n]*+`|「[^「」]*+」|『[^『』]*+』|“[^“”]*+”|\"[^\"\n]*+\"|^>[^\n]*+",
    re.MULTILINE,
)
# What goes on for longer is looked at piece by piece.
_SENTENCE: Final = re.compile(r"[^。．.!！?？\n]{1,300}+[。．.!！?？]*+")

ASKS: Final = re.compile(r"[?？]|(?:ましょう|ます|ました|ません|しよう|い)か(?:ね|な)?[。．\s]*$")
"""A sentence that asks claims nothing."""
QUOTED_JA: Final = re.compile(r"^[、,]?と(?:書|言|い[うっ]|表示|出|伝|答)")
"""After a claim: then those are somebody's words."""


def sentences(answer: str) -> list[str]:
    """What the bot itself says, sentence by sentence; `…` stands for a quotation."""
    said = _NOT_SAID.sub("…", answer.replace("’", "'"))
    if len(said) > 2 * LOOKED_AT:
        said = f"{said[:LOOKED_AT]}\n{said[-LOOKED_AT:]}"
    return [sentence.strip() for sentence in _SENTENCE.findall(said)]
