"""What was done to memories in an answer: the lines and buttons under it, and what those reply."""

from collections.abc import Collection
from dataclasses import dataclass

from cc_bot.domain.events import NotRemoved, NotSaved
from cc_bot.domain.receipt import Receipt


@dataclass(frozen=True, slots=True)
class ReceiptTexts:
    added: str
    updated: str
    unchanged: str
    """What the user wanted kept was kept already."""
    deleted: str
    """Each of these: what was done, with the parameters number (empty, or `number`) and content."""
    deleted_for_all: str
    """Where others read it, too. Parameter: id."""
    still_told: str
    """Below what was forgotten."""
    untell: str
    number: str
    """Parameter: id."""
    hidden: str
    """In place of a content that only its user may see."""
    more: str
    """Parameter: count."""
    not_saved: str
    not_scheduled: str
    not_forgotten: str
    not_cancelled: str
    """Of these two: the answer says that it was."""
    undo: str
    undo_one: str
    """Where there are several. Parameter: content."""
    taken_back: str
    """In the place of a line that told of it."""
    used: str
    """Parameter: count."""
    not_yours: str
    undone_added: str
    """Parameter: content."""
    undone_updated: str
    undone_deleted: str
    """Parameters: id, content."""
    changed_since: str
    """Parameter: id."""
    gone: str
    used_title: str
    none_left: str
    what_next: str
    used_here: str
    """In a terminal. Parameter: numbers."""
    undo_here: str
    delete_here: str
    """How to take it back in a terminal. Parameter: id."""

    def told(self, receipt: Receipt, content: str, *, numbered: bool = False) -> str:
        """What was done, about a memory's text as it may be shown."""
        template = {
            "added": self.updated if receipt.replaced else self.added,
            "updated": self.updated,
            "unchanged": self.unchanged,
            "deleted": self.deleted,
        }[receipt.kind]
        number = self.number.format(id=receipt.number) if numbered else ""
        return template.format(number=number, content=content)

    def owned_up(self, untrue: Collection[NotSaved | NotRemoved]) -> list[str]:
        """That what an answer says is not so."""
        lines: dict[NotSaved | NotRemoved, str] = {
            NotSaved("memory"): self.not_saved,
            NotSaved("reminder"): self.not_scheduled,
            NotRemoved("memory"): self.not_forgotten,
            NotRemoved("reminder"): self.not_cancelled,
        }
        return [line for what, line in lines.items() if what in untrue]


JA = ReceiptTexts(
    added="💾 覚えました{number}: {content}",
    updated="✏️ 書き換えました{number}: {content}",
    unchanged="💾 もう覚えています{number}: {content}",
    deleted="🗑️ 忘れました{number}: {content}",
    deleted_for_all="🗑️ 忘れました（#{id}）",
    still_told="会話の記録には残っていることがあり、これからの回答にも使われます。",
    untell="会話からも消す…",
    number="（#{id}）",
    hidden="（自分だけに見える内容）",
    more="➕ ほか {count} 件。</memory list> で確かめられます。",
    not_saved="⚠️ 保存していません。残したいときは </memory add> を使うか、「覚えておいて」と伝えてください。",
    not_scheduled="⚠️ お知らせは予約していません。</remind add> を使うか、「明日9時に薬って知らせて」のように頼んでください。",
    not_forgotten="⚠️ メモリは何も消していません。消すときは </memory delete> を使ってください。",
    not_cancelled="⚠️ お知らせは取り消していません。取り消すときは </remind delete> を使ってください。",
    undo="取り消す",
    undo_one="取り消す: {content}",
    taken_back="↩️ 取り消しました。",
    used="🧠 使ったメモリ（{count}）",
    not_yours="このボタンは、メモリの持ち主だけが使えます。ご自分のメモリは </memory list> でどうぞ。",
    undone_added="↩️ 取り消しました。もう覚えていません: {content}",
    undone_updated="↩️ 書き換える前に戻しました（#{id}）: {content}",
    undone_deleted="↩️ 忘れるのをやめました（#{id}）: {content}",
    changed_since="このあとに変更されているため、取り消しませんでした。今の内容は </memory show> で #{id} を選ぶと見られます。",
    gone="このメモリはもうありません。取り消し済みか、完全に消したあとです。今あるものは </memory list> で見られます。",
    used_title="🧠 この回答で調べたメモリ",
    none_left="この回答で調べたメモリは、もう残っていません。",
    what_next="直すには </memory edit>、消すには </memory delete> で番号を選んでください。",
    used_here="🧠 使ったメモリ: {numbers}",
    undo_here="/memory undo {id} で取り消せます。",
    delete_here="/memory delete {id} で取り消せます。",
)

EN = ReceiptTexts(
    added="💾 Remembered{number}: {content}",
    updated="✏️ Changed{number}: {content}",
    unchanged="💾 Known already{number}: {content}",
    deleted="🗑️ Forgotten{number}: {content}",
    deleted_for_all="🗑️ Forgotten (#{id})",
    still_told="Conversation records may still hold it, and answers draw on them.",
    untell="Erase it from conversations too…",
    number=" (#{id})",
    hidden="(something that only you may see)",
    more="➕ {count} more. See </memory list>.",
    not_saved="⚠️ Nothing was saved. To keep it, use </memory add> or say “remember that”.",
    not_scheduled="⚠️ No reminder was set. Use </remind add>, or ask like this: remind me tomorrow at 9 to take the pills.",
    not_forgotten="⚠️ No memory was deleted. To delete one, use </memory delete>.",
    not_cancelled="⚠️ No reminder was cancelled. To cancel one, use </remind delete>.",
    undo="Undo",
    undo_one="Undo: {content}",
    taken_back="↩️ Taken back.",
    used="🧠 Memories used ({count})",
    not_yours="Only the owner of the memory can use this button. Yours are in </memory list>.",
    undone_added="↩️ Undone. I no longer remember: {content}",
    undone_updated="↩️ Back to what it said before (#{id}): {content}",
    undone_deleted="↩️ Not forgotten after all (#{id}): {content}",
    changed_since="It was changed since, so nothing was undone. Choose #{id} in </memory show> to see it.",
    gone="This memory is gone: the change was undone already, or it was erased for good. See </memory list> for those that are there.",
    used_title="🧠 Memories looked up for this answer",
    none_left="None of the memories that this answer looked up are left.",
    what_next="To correct one use </memory edit>, to remove one </memory delete>, and choose its number.",
    used_here="🧠 Memories used: {numbers}",
    undo_here="/memory undo {id} takes it back.",
    delete_here="/memory delete {id} takes it back.",
)
