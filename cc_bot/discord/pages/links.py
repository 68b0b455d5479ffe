"""Suppresses link previews: `<https://…>`, which Discord shows as a plain link.

A preview is an embed whose text the page's author chooses, under the bot's name: it could imitate a receipt.
Discord also fetches the page, so a link that a model was tricked into writing would leak data without a
click.

Code has no previews, and brackets would be visible there. But Discord's parser is not public, and a mark
opened before the code (`**` or `[`) may end inside it, so that it is no longer code. So links in code stay
only if no character of such a mark precedes them there; an extra bracket is better than a preview.
"""

import re
from typing import Final

CLOSE_LIMIT: Final = 1000
"""Leaves room for brackets in a text of links: they nearly double the shortest ones."""

_FIRST: Final = r"[^\s<>)]"
_BETWEEN_PARENTHESES: Final = r"[^\s<>\[\]()、。，．「」『』（）【】！？]"
# Up to an unopened closing parenthesis: a Markdown link ends there, and another may begin.
_FURTHER: Final = rf"(?:{_BETWEEN_PARENTHESES}|\({_BETWEEN_PARENTHESES}*\)|\()*+"
_LINK: Final = (
    rf"(?P<link>(?:https?|discord|steam)://(?=[^\s<>])(?:{_FIRST}{_FURTHER})?)"
    rf"|(?P<invite>discord(?:\.gg|(?:app)?\.com/invite)/{_FIRST}{_FURTHER})"
)
_SCHEME: Final = re.compile(r"(?<=https):(?=//)|(?<=http):(?=//)|(?<=discord):(?=//)|(?<=steam):(?=//)", re.I)
_BALANCED: Final = re.compile(r"(?:[^()]|\([^()]*\)|\()*+")
_ANY: Final = re.compile(
    rf"(?P<escape>\\[^0-9A-Za-z\s])|(?<![<\\])(?P<whole><[a-z]+://[^\s<>]+>)|{_LINK}|(?P<ticks>`+)",
    re.IGNORECASE,
)
_OUTSIDE_OF_CODE: Final = re.compile(rf"(?<![<\\])(?P<whole><[a-z]+://[^\s<>]+>)|{_LINK}", re.IGNORECASE)
_TICKS: Final = re.compile("`+")
_TRAILING: Final = ".,:;'\"*_~|`"
_MARK: Final = re.compile(r"[*_~|\[\]<>\\]")
_FENCE: Final = 3


def without_previews(message: str) -> str:
    """Return the text with angle brackets around each link that Discord would preview."""
    shown: list[str] = []
    at = 0
    while match := _ANY.search(message, at):
        shown.append(message[at : match.start()])
        at = match.end()
        if match["ticks"]:
            end = _end_of_code(message, match)
            if end is None:  # ambiguous ticks: treat the rest as text
                return "".join((*shown, match[0], _OUTSIDE_OF_CODE.sub(_bracket, message[at:])))
            inner = end - len(match[0])
            shown.append(match[0] + _code(message[at:inner]) + message[inner:end])
            at = end
        else:
            shown.append(_bracket(match))
    return "".join((*shown, message[at:]))


def _bracket(match: re.Match[str]) -> str:
    text = match[0]
    if match["whole"]:
        if _BALANCED.fullmatch(text):
            return f"<{_without_inner_links(text[1:-1])}>"
        return f"< {_OUTSIDE_OF_CODE.sub(_bracket, text[1:])}"
    if not (match["link"] or match["invite"]):
        return text
    link = _trim(text)
    before = " " if match.string[: match.start()].endswith(("<", "\\")) else ""
    address = link if match["link"] else f"https://{link}"
    return f"{before}<{_without_inner_links(address)}>{text[len(link) :]}"


def _without_inner_links(address: str) -> str:
    """Encode "://" inside an address, so that Discord finds no second link there. Servers treat both
    spellings alike."""
    scheme, rest = address.split("//", 1)
    return f"{scheme}//{_SCHEME.sub('%3A', rest)}"


def _trim(link: str) -> str:
    end, unopened = len(link), link.count(")") - link.count("(")
    while link[end - 1] in _TRAILING or (link[end - 1] == ")" and unopened > 0):
        unopened -= link[end - 1] == ")"
        end -= 1
    shorter = link[:end]
    return link if shorter.endswith(("//", "invite/", ".gg/")) else shorter


def _end_of_code(message: str, opening: re.Match[str]) -> int | None:
    """Return the end of the code that these ticks open: a fence at the start of a line, or inline code. None
    if unclear."""
    length = len(opening[0])
    closing = _TICKS.search(message, opening.end())
    while closing and length < _FENCE and len(closing[0]) != length:
        closing = _TICKS.search(message, closing.end())
    if closing is None or length > _FENCE or len(closing[0]) != length:
        return None
    line = message[message.rfind("\n", 0, opening.start()) + 1 : opening.start()]
    is_fence = length == _FENCE and not line.strip(" \t>")
    is_in_line = "\n" not in message[opening.end() : closing.start()]
    return closing.end() if is_fence or is_in_line else None


def _code(code: str) -> str:
    """Return the code, with links in brackets after a mark that may have ended it."""
    mark = _MARK.search(code)
    return (
        code if mark is None else code[: mark.start()] + _OUTSIDE_OF_CODE.sub(_bracket, code[mark.start() :])
    )
