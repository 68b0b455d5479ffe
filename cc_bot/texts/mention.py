"""What is said to those who write to the bot in a channel or a DM, beside the answers themselves."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MentionTexts:
    ask_something: str
    """To a mention, or a DM, with nothing in it."""
    away: str
    """To a question that waited for too long while the bot was not running."""
    left_behind: str
    """To a question that waited when its channel was reset."""
    cut: str
    stopped_empty: str


JA = MentionTexts(
    ask_something="はい、何でしょう？ 聞きたいことを添えて、もう一度送ってください。",
    away="しばらく動いていなかったため、お返事できませんでした。まだお困りでしたら、もう一度お聞きください。",
    left_behind="ここで会話が区切られたため、この質問にはお答えしていません。必要でしたら、もう一度お聞きください。",
    cut="✂️ 回答が途中で切れました。「続けて」と返信すれば、続きを書きます。",
    stopped_empty="⏹️ 回答を止めました。",
)

EN = MentionTexts(
    ask_something="Yes? Please send that again with what you would like to know.",
    away="I was not running for a while and could not answer. If you still need it, please ask again.",
    left_behind=(
        "The conversation was started afresh here, so I did not answer this. If you still need it, please ask "
        "again."
    ),
    cut="✂️ The answer broke off. Reply with “go on” for the rest.",
    stopped_empty="⏹️ Stopped.",
)
