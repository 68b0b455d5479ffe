"""What was erased for good, and what remains: said to the user whose it was."""

from dataclasses import dataclass

from cc_bot.domain.memory import Erased


@dataclass(frozen=True, slots=True)
class ErasureTexts:
    question: str
    """Before an erasure, where more than the memory tells of it. Parameter: count."""
    memory_only: str
    conversations_too: str
    mark: str
    """Takes the place of a message in the record of a conversation."""
    done: str
    nothing: str
    removed: str
    """Parameter: list."""
    memories: str
    versions: str
    tool_calls: str
    summaries: str
    messages: str
    """Each of the list's; parameter: count."""
    comma: str
    still_told: str
    """Parameter: count."""
    remains: str
    not_told: str
    out_of_reach: str
    """Of a memory that is back, or gone for good already."""

    def choices(self) -> tuple[str, str]:
        """How far an erasure goes, as two buttons have it: without and with the record of conversations."""
        return self.memory_only, self.conversations_too

    def told(self, erased: Erased) -> str:
        """What was removed, what still tells of it, and what is out of reach: a line each."""
        counts = (
            (self.memories, erased.memories),
            (self.versions, erased.versions),
            (self.tool_calls, erased.tool_calls),
            (self.summaries, erased.summaries),
            (self.messages, erased.messages),
        )
        parts = [template.format(count=count) for template, count in counts if count]
        if not parts:
            return self.nothing
        still = [self.still_told.format(count=erased.told_in)] if erased.told_in else []
        return "\n".join((self.done, self.removed.format(list=self.comma.join(parts)), *still, self.remains))


JA = ErasureTexts(
    question=(
        "このメモリの内容にふれた発言や回答が、会話の記録に {count}件あります。そちらも空にしますか？\n"
        "-# 空にした会話のことは、もう思い出せません。"
    ),
    memory_only="メモリだけ完全に消す",
    conversations_too="会話の記録からも消す",
    mark="（消去しました）",
    done="🗑️ 完全に消しました。もう元には戻せません。",
    nothing="消すものはありませんでした。",
    removed="消したもの: {list}",
    memories="メモリ {count}件",
    versions="以前の内容 {count}件",
    tool_calls="回答の中でメモリを使った記録 {count}件",
    summaries="会話の要約 {count}件",
    messages="会話の記録の発言 {count}件",
    comma="、",
    still_told="会話の記録には、その内容にふれた発言や回答がまだ {count}件あります。",
    remains="-# バックアップや更新前の控え、すでに表示されたメッセージはそのまま残ります。",
    not_told="この内容にふれた発言や回答は、会話の記録にありません。",
    out_of_reach="このメモリは、元に戻したか、完全に消したあとです。会話をまっさらにするには </clear> をお使いください。",
)

EN = ErasureTexts(
    question=(
        "Conversation records touch on this memory in {count} messages. Empty those as well?\n"
        "-# Then I no longer know what was said there."
    ),
    memory_only="Erase the memory only",
    conversations_too="Erase it from conversations too",
    mark="(erased)",
    done="🗑️ Erased for good. This can't be undone.",
    nothing="There was nothing to erase.",
    removed="Removed: {list}",
    memories="memories: {count}",
    versions="former versions: {count}",
    tool_calls="records of their use in answers: {count}",
    summaries="conversation summaries: {count}",
    messages="messages in conversation records: {count}",
    comma=", ",
    still_told="Messages in conversation records that still touch on it: {count}.",
    remains="-# Backups, copies made before upgrades, and messages already on screen stay as they are.",
    not_told="No message in conversation records touches on it.",
    out_of_reach="This memory is back, or it was erased for good already. </clear> starts your conversation afresh.",
)
