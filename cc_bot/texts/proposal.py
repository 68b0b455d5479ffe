"""What a model wanted to change and left to its user: what would be done, how to choose, and what came of it."""

from dataclasses import dataclass

from cc_bot.domain.proposal import (
    AddReminder,
    CancelReminder,
    ChangeMemory,
    Draw,
    ForgetMemory,
    KeepMemory,
    ProposedChange,
)


@dataclass(frozen=True, slots=True)
class Choice:
    """The two buttons of a proposal: each names what its user gets."""

    yes: str
    no: str


@dataclass(frozen=True, slots=True)
class ProposalTexts:
    title: str
    numbered: str
    """Where there are several. Parameter: number."""
    why: str
    """Below the last one: that nothing is done yet."""
    keep: Choice
    replace: Choice
    change: Choice
    forget: Choice
    remind: Choice
    cancel: Choice
    draw: Choice
    one_of: str
    """A button where there are several proposals. Parameters: number, label."""
    to_keep: str
    to_replace: str
    """Parameter: id."""
    replaced_by: str
    to_change: str
    changed_to: str
    to_forget: str
    to_cancel: str
    to_remind: str
    time: str
    """Parameters: time, moment."""
    again_and_again: str
    """Parameters: repeat, time."""
    details: str
    """Parameters: name, value. Of what is filed with a memory."""
    changed_details: str
    """Parameters: name, old, new."""
    category: str
    tags: str
    ends: str
    nothing: str
    to_draw: str
    draw_card: str
    """Parameter: title, which may be empty; the content follows."""
    draw_text: str
    draw_titled_text: str
    draw_chart: str
    draw_update: str
    """Parameter: title."""
    draw_remove: str
    title_of: str
    now: str
    draw_list: str
    draw_board: str
    draw_focus: str
    """Parameter: title."""
    draw_clear: str
    see: str
    """A button where they take too much room. Parameter: count."""
    whole: str
    """Where a text is too long: it is in the file."""
    file_name: str
    left: str
    """It was left undone. Parameter: what, one of those below."""
    none_open: str
    not_yours: str

    def layout(self, mode: str) -> str:
        """What a way to lay the canvas out is called."""
        return {"list": self.draw_list, "board": self.draw_board}.get(mode, self.draw_focus)

    def choice(self, change: ProposedChange) -> Choice:
        match change:
            case KeepMemory():
                return self.keep if change.supersedes is None else self.replace
            case ChangeMemory():
                return self.change
            case ForgetMemory():
                return self.forget
            case AddReminder():
                return self.remind
            case CancelReminder():
                return self.cancel
            case Draw():
                return self.draw


JA = ProposalTexts(
    title="確認待ち",
    numbered="確認待ち {number}",
    why="まだ何も変わっていません。あなたが選んだときだけ実行します（7日間有効）。",
    keep=Choice("覚える", "覚えない"),
    replace=Choice("入れ替える", "そのまま"),
    change=Choice("書き換える", "そのまま"),
    forget=Choice("忘れる", "残す"),
    remind=Choice("予約する", "予約しない"),
    cancel=Choice("お知らせをやめる", "残す"),
    draw=Choice("キャンバスを変える", "変えない"),
    one_of="{number}. {label}",
    to_keep="💾 覚える内容",
    to_replace="✏️ いまのメモリ（#{id}）",
    replaced_by="入れ替えたあと",
    to_change="✏️ いまのメモリ（#{id}）",
    changed_to="書き換えたあと",
    to_forget="🗑️ 忘れるメモリ（#{id}）",
    to_cancel="🔕 やめるお知らせ（#{id}）",
    to_remind="⏰ お知らせの内容",
    time="{time}（{moment}）",
    again_and_again="🔁 {repeat}（次は {time}）",
    details="{name}: {value}",
    changed_details="{name}: {old} → {new}",
    category="カテゴリ",
    tags="タグ",
    ends="期限",
    nothing="なし",
    to_draw="🖼️ キャンバス",
    draw_card="カードを出す: {title}",
    draw_text="文章を出す",
    draw_titled_text="文章を出す: {title}",
    draw_chart="グラフを出す: {title}",
    draw_update="「{title}」を書き換える",
    draw_remove="「{title}」を下ろす",
    title_of="題名",
    now="いま",
    draw_list="縦に並べる",
    draw_board="横に並べる",
    draw_focus="「{title}」だけを大きく出す",
    draw_clear="すべて下ろす",
    see="確認待ちを見る（{count}件）",
    whole="長いので、全文は添付のファイルで確かめてください。",
    file_name="確認待ち.txt",
    left="↩️ 見送りました: {what}",
    none_open="この回答の提案は、もうすべて決まっています。",
    not_yours="この提案は、質問した本人だけが選べます。",
)

EN = ProposalTexts(
    title="For you to decide",
    numbered="For you to decide ({number})",
    why="Nothing has changed yet. It is done only if you choose it (open for 7 days).",
    keep=Choice("Remember it", "Don't remember"),
    replace=Choice("Replace it", "Leave it"),
    change=Choice("Change it", "Leave it"),
    forget=Choice("Forget it", "Keep it"),
    remind=Choice("Set the reminder", "Don't set it"),
    cancel=Choice("Cancel the reminder", "Keep it"),
    draw=Choice("Change the canvas", "Leave it"),
    one_of="{number}. {label}",
    to_keep="💾 To remember",
    to_replace="✏️ The note now (#{id})",
    replaced_by="Replaced by",
    to_change="✏️ The note now (#{id})",
    changed_to="Changed to",
    to_forget="🗑️ To forget (#{id})",
    to_cancel="🔕 The reminder to cancel (#{id})",
    to_remind="⏰ To remind you of",
    time="{time} ({moment})",
    again_and_again="🔁 {repeat} (next: {time})",
    details="{name}: {value}",
    changed_details="{name}: {old} → {new}",
    category="Category",
    tags="Tags",
    ends="Until",
    nothing="none",
    to_draw="🖼️ Canvas",
    draw_card="Put up a card: {title}",
    draw_text="Put up a text",
    draw_titled_text="Put up a text: {title}",
    draw_chart="Put up a chart: {title}",
    draw_update="Change “{title}”",
    draw_remove="Take down “{title}”",
    title_of="Title",
    now="Now",
    draw_list="Show everything as a list",
    draw_board="Show cards side by side",
    draw_focus="Show “{title}” alone",
    draw_clear="Take everything down",
    see="See what to decide ({count})",
    whole="It is long: the attached file has all of it.",
    file_name="to-decide.txt",
    left="↩️ Left as it was: {what}",
    none_open="Everything that this answer proposed is decided.",
    not_yours="Only the person who asked can decide this.",
)
