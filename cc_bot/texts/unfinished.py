"""What is said about a turn that the program was ended under, once it runs again."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class UnfinishedTexts:
    cut_off: str
    """With a button below that asks the same once more."""
    ask_again: str
    temporary: str
    """Nothing of the question was kept."""
    lost: str
    """The question is no longer there."""
    kept: str
    """Under the older answer, when a new one was asked for."""
    no_new_one: str
    """The same, where the older answer stands above."""
    late: str
    """Under an answer that comes by DM because it can't be shown where it was asked."""
    in_doubt: str
    """It was ended in the very moment in which something was about to be stored."""
    asked_already: str
    """To a press of a button whose question is not waiting any more."""


JA = UnfinishedTexts(
    cut_off=(
        "書いている途中で動かなくなったため、お返事できませんでした。"
        "「もう一度きく」を押すと、同じ質問にお答えします。"
    ),
    ask_again="もう一度きく",
    temporary=(
        "書いている途中で動かなくなったため、お返事できませんでした。"
        "保存しない質問だったので、こちらには残っていません。お手数ですが、もう一度お聞きください。"
    ),
    lost="書いている途中で動かなくなったため、お返事できませんでした。お手数ですが、もう一度お聞きください。",
    kept="✂️ 途中で動かなくなったため、前の回答に戻しました。",
    no_new_one="✂️ 途中で動かなくなったため、新しい回答はできませんでした。前の回答はそのままです。",
    late="📨 先ほどの質問へのお返事です。元の場所には出せなかったため、こちらにお届けします。",
    in_doubt=(
        "❓ メモリかお知らせを変えている最中に止まりました。"
        "済んだかどうかは、</memory list> と </remind list> で確かめられます。"
    ),
    asked_already=(
        "この質問は、もう一度お聞きしたあとか、お預かりする期限（7日）を過ぎています。"
        "必要でしたら、新しくお聞きください。"
    ),
)

EN = UnfinishedTexts(
    cut_off=(
        "I was cut off before I could finish this answer. "
        "Press “Ask again” to have the same question answered."
    ),
    ask_again="Ask again",
    temporary=(
        "I was cut off before I could finish this answer. "
        "The question was not stored, so please ask it once more."
    ),
    lost="I was cut off before I could finish this answer. Please ask once more.",
    kept="✂️ I was cut off, so the earlier answer is back.",
    no_new_one="✂️ I was cut off, so there is no new answer. The earlier one stays.",
    late="📨 This answers your earlier question. It could not be shown where you asked.",
    in_doubt=(
        "❓ I was cut off while changing a memory or reminder. "
        "See </memory list> and </remind list> for whether it was done."
    ),
    asked_already=(
        "This question has been asked again already, or the 7 days that I keep it for are over. "
        "If you still need it, please ask it anew."
    ),
)
