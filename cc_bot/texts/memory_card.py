"""One memory with all that is known of it, and what can be done with it."""

from dataclasses import dataclass

from cc_bot.domain.memory import Memory, SourceKind


@dataclass(frozen=True, slots=True)
class MemoryCardTexts:
    title: str
    """Parameter: id."""
    category: str
    tags: str
    audience: str
    anywhere: str
    private: str
    end: str
    changed: str
    why: str
    """The question that its source answers."""
    from_command: str
    from_message: str
    """Parameter: author."""
    from_someones_message: str
    from_model: str
    from_proposal: str
    """Parameter: model."""
    from_unnamed_model: str
    from_import: str
    from_terminal: str
    from_unknown: str
    source_link: str
    """Parameter: link."""
    history: str
    former: str
    """Parameters: date, content."""
    more_former: str
    """Parameter: count."""

    edit: str
    delete: str
    use_anywhere: str
    use_in_private: str
    restore: str
    restored: str
    """Parameter: id."""
    former_gone: str

    pin: str
    unpin: str
    pinned: str
    """Parameter: id."""
    unpinned: str
    """Parameter: id."""
    pin_read: str
    """What it is good for. Parameter: count."""
    pin_mark_only: str
    """Likewise, where the operator wants nothing told from the start."""
    pin_foreign: str
    """Likewise, of what may be in somebody else's words."""

    form_title: str
    """Parameter: id."""
    form_content: str
    form_category: str
    form_tags: str
    form_end: str
    form_end_example: str
    edited: str
    """Parameter: id."""
    unchanged: str
    changed_from_to: str
    """Parameters: name, old, new."""
    content: str
    nothing: str
    edit_undone: str
    """Parameter: id."""
    edit_not_undone: str
    your_text: str
    """Above what was entered and could not be kept."""

    def pin_told(self, memory: Memory, most: int) -> str:
        """That a memory is pinned, and what comes of it where prompts tell so many notes from the start."""
        use = self.pin_foreign if memory.tainted and most else self.pin_read if most else self.pin_mark_only
        return f"{self.pinned.format(id=memory.number)}\n-# {use.format(count=most)}"

    def because(self, kind: SourceKind, *, author: str = "", model: str = "") -> str:
        """How a memory came about. Author and model are empty where they are not known."""
        match kind:
            case "message":
                return self.from_message.format(author=author) if author else self.from_someones_message
            case "model":
                return self.from_model.format(model=model) if model else self.from_unnamed_model
            case _:
                return {
                    "command": self.from_command,
                    "import": self.from_import,
                    "terminal": self.from_terminal,
                    "proposal": self.from_proposal,
                }.get(kind, self.from_unknown)


JA = MemoryCardTexts(
    title="メモリ #{id}",
    category="カテゴリ",
    tags="タグ",
    audience="使う場所",
    anywhere="どこでも",
    private="🔒 DM と自分だけに見える回答",
    end="期限",
    changed="変更した日",
    why="なぜ知っているの？",
    from_command="あなたが </memory add> で登録しました。",
    from_message="あなたが {author} さんのメッセージから登録しました。",
    from_someones_message="あなたがメッセージから登録しました。",
    from_proposal="会話の中での提案を、あなたが確認して覚えました。",
    from_model="会話の中で覚えました（AIモデル: {model}）。",
    from_unnamed_model="会話の中で覚えました。",
    from_import="あなたがファイルから取り込みました。",
    from_terminal="あなたがターミナルで登録しました。",
    from_unknown="覚えたきっかけの記録はありません。記録を始める前のメモリです。",
    source_link="[元のメッセージを見る]({link})",
    history="前の内容",
    former="{date} {content}",
    more_former="ほか{count}件",
    edit="編集",
    delete="削除",
    use_anywhere="どこでも使う",
    use_in_private="自分だけの回答でだけ使う",
    restore="前の内容に戻す…",
    restored="↩️ #{id} を前の内容に戻しました。",
    former_gone="その内容はもう残っていません。",
    pin="📌 ピン留め",
    unpin="ピンを外す",
    pinned="📌 #{id} をピン留めしました。",
    unpinned="#{id} のピンを外しました。",
    pin_read="これからは、回答の前にいつも目を通します（ピン留めの新しいものから{count}件まで）。",
    pin_mark_only="このボットでは、ピンは見分けるための印です。回答には、必要なときに探して使います。",
    pin_foreign="あなたが書いた文とはかぎらないので、回答の前に読むことはありません。必要なときに探して使います。",
    form_title="メモリ #{id} を編集",
    form_content="内容",
    form_category="カテゴリ",
    form_tags="タグ（カンマか空白で区切る）",
    form_end="期限（この日まで。なければ空欄）",
    form_end_example="12月31日、来週の金曜、2026-12-31",
    edited="✏️ #{id} を変更しました。",
    unchanged="#{id} は前のままです。変更はありませんでした。",
    changed_from_to="**{name}**：{old} → {new}",
    content="内容",
    nothing="なし",
    edit_undone="↩️ #{id} の変更を取り消しました。",
    edit_not_undone="そのあとにまた変わったので、この変更だけを取り消すことはできません。</memory show> で前の内容に戻せます。",
    your_text="入力した内容",
)

EN = MemoryCardTexts(
    title="Memory #{id}",
    category="Category",
    tags="Tags",
    audience="Used",
    anywhere="anywhere",
    private="🔒 in DMs and answers that you alone see",
    end="Ends",
    changed="Changed",
    why="Why do you know this?",
    from_command="You saved it with </memory add>.",
    from_message="You saved it from a message by {author}.",
    from_someones_message="You saved it from a message.",
    from_proposal="Proposed in a conversation, and confirmed by you.",
    from_model="Remembered in a conversation (AI model: {model}).",
    from_unnamed_model="Remembered in a conversation.",
    from_import="You imported it from a file.",
    from_terminal="You saved it in the terminal.",
    from_unknown="There is no record of it: this memory is older than such records.",
    source_link="[See the message]({link})",
    history="What it said before",
    former="{date} {content}",
    more_former="and {count} more",
    edit="Edit",
    delete="Delete",
    use_anywhere="Use anywhere",
    use_in_private="Use only where I alone see it",
    restore="Go back to what it said…",
    restored="↩️ #{id} says again what it said before.",
    former_gone="That version is no longer kept.",
    pin="📌 Pin",
    unpin="Unpin",
    pinned="📌 #{id} is pinned.",
    unpinned="#{id} is no longer pinned.",
    pin_read="From now on I read it before every answer (of your pinned ones the newest {count}, at most).",
    pin_mark_only="On this bot a pin is a mark for you. I look it up when an answer needs it, as before.",
    pin_foreign="It may not be in your own words, so I do not read it before answers. I look it up when one needs it.",
    form_title="Edit memory #{id}",
    form_content="Text",
    form_category="Category",
    form_tags="Tags (separated by commas or spaces)",
    form_end="Last day it holds (may stay empty)",
    form_end_example="Dec 31, next Friday, 2026-12-31",
    edited="✏️ #{id} is changed.",
    unchanged="#{id} is as it was. Nothing was changed.",
    changed_from_to="**{name}**: {old} → {new}",
    content="Text",
    nothing="none",
    edit_undone="↩️ The change of #{id} is undone.",
    edit_not_undone="It has changed again since, so this change alone can't be undone. </memory show> lets you go back.",
    your_text="What you entered",
)
