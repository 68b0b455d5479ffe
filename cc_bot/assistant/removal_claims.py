"""Whether an answer says that a memory was forgotten, or a reminder cancelled, although nothing was.

As with promises (rounds.py) nothing is allowed or refused by these words: where a claim is not true, its
user is told. A false alarm tells somebody who reads a story, or has their code mended, that nothing was
deleted. So what can be anything ("Removed!") counts only where the turn is about a memory or a reminder, and
記憶を消しました, which magicians do too, where something is to be removed at all. What is said to have been
done before is no claim about this turn.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from cc_bot.assistant.removals import NEAR, Claims, Kind, Wish
from cc_bot.assistant.removals_en import claims_en
from cc_bot.assistant.removals_ja import claims_ja
from cc_bot.assistant.sentences import ASKS, asks_back, sentences
from cc_bot.domain.message import Message, ToolCall

_REMOVES: Final[dict[str, Kind]] = {
    "forget": "memory",
    "update_memory": "memory",
    "cancel_schedule": "reminder",
}
_LOOKS_AT: Final[dict[str, Kind]] = {**_REMOVES, "list_memories": "memory", "list_schedules": "reminder"}
"""Tools whose use shows what a turn is about."""
_SUPERSEDES: Final = re.compile(r'"supersedes"\s*:\s*"?[1-9]')
_ASKED_AT_MOST: Final = 2000
"""Characters of a question that are looked at: the wish stands at its beginning."""

_ABOUT: Final[dict[Kind, re.Pattern[str]]] = {
    "memory": re.compile(
        r"忘れ(?:て|ろ|とい|ちゃ|る|ません)|わすれて|記憶|メモ|覚え|おぼえ|プロフィール"
        r"|\b(?:forget|forgot(?:ten)?|memor(?:y|ies)|remember(?:ed)?|notes?)\b",
        re.IGNORECASE,
    ),
    "reminder": re.compile(
        r"リマイン|お知らせ|通知|知らせ|アラーム|タイマー|予約|予定|スケジュール"
        r"|\b(?:remind(?:ers?|ing)?|alarms?|timers?|notifications?|schedul\w*)\b",
        re.IGNORECASE,
    ),
}
_WISH: Final = re.compile(
    r"消[しせす]|けして|削除|消去|取り?消|取りけ|キャンセル|解除|破棄|やめ|止め|とめて|停止|オフ|忘れ|わすれ"
    r"|なかったこと|クリア|リセット|要らな|いらな|不要|中止"
    r"|\b(?:forget|delet\w+|remov\w+|eras\w+|cancel\w*|clear|wipe|stop|turn off|drop|purge|get rid|discard"
    r"|disable|don't need|no longer)\b",
    re.IGNORECASE,
)
_CODE: Final = re.compile(
    r"コード|関数|変数|処理|ファイル|クラス|メソッド|スクリプト|コンポーネント|リーク|キャッシュ|カード|キャンバス"
    r"|ヒープ|ポインタ|スタック|プロセス|オブジェクト|配列|更新プログラム"
    r"|グラフ|\b(?:code|functions?|variables?|components?|imports?|lines?|leaks?|class|methods?|scripts?|files?"
    r"|handlers?|listeners?|callbacks?|buffers?|cache|cards?|canvas|chart|heap|stack|pointers?|process|scope"
    r"|allocat\w+)\b",
    re.IGNORECASE,
)
"""Talk of programs, and of what is on the canvas."""


def wish_of(question: str, before: str = "") -> Wish:
    """What somebody wants; はい and "the second one" mean what the answer `before` has asked."""
    said = question[:_ASKED_AT_MOST]
    last = before.strip()[-NEAR * 5 :]
    if len(said) < NEAR and last.endswith(("?", "？", "か。", "さい。")):
        said = f"{last}\n{said}"
    return Wish(
        frozenset(kind for kind, words in _ABOUT.items() if words.search(said)),
        _WISH.search(said) is not None,
        asks_back(question),
    )


def untrue_removals(
    answer: str,
    calls: Sequence[ToolCall],
    question: str,
    before: Message | None = None,
    *,
    goes_on: bool = False,
) -> frozenset[Kind]:
    """What an answer, with its calls, says was removed and was not. `before` is the answer that stood there
    before the question; `goes_on`: what that one removed, this one may tell of."""
    removed = _removed_by(calls)
    if before and goes_on:
        removed |= _removed_by(before.tool_calls)
    wish = wish_of(question, before.content if before else "")
    called = {_LOOKS_AT[call.name] for call in calls if call.name in _LOOKS_AT}
    tried = any(call.name in _REMOVES for call in calls)
    wish = replace(wish, about=wish.about | called, removal=wish.removal or tried)
    return removal_claims(answer).untrue(removed, wish)


def _removed_by(calls: Sequence[ToolCall]) -> frozenset[str]:
    """What was removed, or proposed to be; a memory that another one takes the place of is gone, too."""
    done = [call for call in calls if call.ok]
    replacing = any(call.name == "remember" and _SUPERSEDES.search(call.arguments) for call in done)
    return frozenset(
        (
            *(_REMOVES[call.name] for call in done if call.name in _REMOVES),
            *(("memory",) if replacing else ()),
            *("canvas" for call in done if call.name.startswith("canvas_")),
        )
    )


def removal_claims(answer: str) -> Claims:
    """What an answer says was removed."""
    said = [
        claims
        for sentence in sentences(answer)
        if not (ASKS.search(sentence) or _CODE.search(sentence))
        for claims in (claims_ja(sentence), claims_en(sentence))
    ]
    return Claims(
        frozenset().union(*(claims.named for claims in said)),
        frozenset().union(*(claims.unsure for claims in said)),
        any(claims.unnamed for claims in said),
    )
