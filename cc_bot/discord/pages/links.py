"""Links without previews: `<https://…>`, which Discord shows as a link and no more.

A preview is an embed whose words the author of a page chooses, under the bot's name: it could pass for a
receipt. And Discord fetches a page to make one, so a link that a model was talked into writing would
carry what it holds to that page's owner without anybody's click.

In code Discord makes no previews, and brackets would be in the way there. But what is code is told by
Discord's parser, which is not public: a mark that opened before the code may end within it (`**` or `[`),
and then it is none. So a link in code stays as it is only where no character of such a mark comes before
it in that code; everywhere else a bracket too many is better than a preview.
"""

import re
from typing import Final

CLOSE_LIMIT: Final = 1000
"""For a text that is all but made of links: the brackets make the shortest of them nearly twice as long."""

_FIRST: Final = r"[^\s<>)]"
_BETWEEN_PARENTHESES: Final = r"[^\s<>\[\]()、。，．「」『』（）【】！？]"
# Up to a closing parenthesis that was not opened: there a Markdown link ends, and the next may begin.
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
    """The message, with angle brackets around each link that Discord would make a preview for."""
    shown: list[str] = []
    at = 0
    while match := _ANY.search(message, at):
        shown.append(message[at : match.start()])
        at = match.end()
        if match["ticks"]:
            end = _end_of_code(message, match)
            if end is None:  # what these ticks belong to is in doubt: nothing further is taken for code
                return "".join((*shown, match[0], _OUTSIDE_OF_CODE.sub(_bracket, message[at:])))
            inner = end - len(match[0])
            shown.append(match[0] + _code(message[at:inner]) + message[inner:end])
            at = end
        else:
            shown.append(_bracket(match))
    return "".join((*shown, message[at:]))


def _bracket(match: re.Match[str]) -> str:
    """The link in brackets, with what its end was trimmed of behind them."""
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
    """The address, with no second one in it that Discord could take for a link of its own. Servers read both
    spellings alike."""
    scheme, rest = address.split("//", 1)
    return f"{scheme}//{_SCHEME.sub('%3A', rest)}"


def _trim(link: str) -> str:
    """The link without the punctuation and the marks that a link ends before."""
    end, unopened = len(link), link.count(")") - link.count("(")
    while link[end - 1] in _TRAILING or (link[end - 1] == ")" and unopened > 0):
        unopened -= link[end - 1] == ")"
        end -= 1
    shorter = link[:end]
    return link if shorter.endswith(("//", "invite/", ".gg/")) else shorter


def _end_of_code(message: str, opening: re.Match[str]) -> int | None:
    """Return the place behind the ticks that close the code which these open: a fence that begins a line,
    or code within one. None if that is in doubt."""
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
    """Code, and brackets around the links behind a mark that may have ended it."""
    mark = _MARK.search(code)
    return (
        code if mark is None else code[: mark.start()] + _OUTSIDE_OF_CODE.sub(_bracket, code[mark.start() :])
    )
