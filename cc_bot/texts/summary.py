"""The summary of a channel's conversation, as a user reads of it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SummaryTexts:
    title: str
    private: str
    """Above what was written down of what others can't see."""
    none: str
    delete: str
    deleted: str
    not_yours: str


JA = SummaryTexts(
    title="このチャンネルでの会話の要約",
    private="自分だけの会話から",
    none="このチャンネルでの会話の要約はまだありません。会話が長くなるか、しばらく間があくと書き留めます。",
    delete="要約を消す",
    deleted="🗑️ 要約を消しました。ここまでの会話が要約されることはもうありません。",
    not_yours="このボタンは、この会話をした人だけが使えます。ご自分の要約は </summary> でどうぞ。",
)

EN = SummaryTexts(
    title="Summary of our conversation in this channel",
    private="From what only you can see",
    none=(
        "There is no summary of our conversation in this channel yet. I write one when it gets long or has "
        "paused for a while."
    ),
    delete="Delete the summary",
    deleted="🗑️ The summary is deleted. What was said up to now will not be summarized again.",
    not_yours="Only the person whose conversation it is can use this button. Yours is in </summary>.",
)
