"""What a model wanted to change and left to its user: what would be done, how to choose, and what came of it."""

from dataclasses import dataclass

from cc_bot.domain.canvas import ChartKind
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
    """A kind of change, and its two buttons: each names what its user gets."""

    what: str
    """Parameter: id, of the memory or the reminder; unless it is a new one."""
    yes: str
    no: str


@dataclass(frozen=True, slots=True)
class ProposalTexts:
    title: str
    numbered: str
    """Where there are several. Parameter: number."""
    why: str
    """That nothing is done yet: on Discord below the last one, in a terminal above the first."""
    keep: Choice
    replace: Choice
    change: Choice
    forget: Choice
    remind: Choice
    cancel: Choice
    draw: Choice
    one_of: str
    """A button where there are several proposals. Parameters: number, label."""
    now: str
    """Above the text that is there now."""
    then: str
    """Above the one that would be there."""
    field: str
    """Parameters: name, value. Of what is filed with a memory, and of a time."""
    changed_field: str
    """Parameters: name, old, new."""
    time: str
    from_now: str
    """Parameters: time, moment. Once."""
    repeated: str
    """Parameters: repeat, time (the next one)."""
    draw_card: str
    """Parameter: title, which may be empty; the content follows."""
    draw_text: str
    draw_titled_text: str
    draw_line: str
    draw_bars: str
    draw_pie: str
    draw_update: str
    """Parameter: title."""
    draw_remove: str
    title_of: str
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
    """It was left undone. Parameter: what, of its texts the first."""
    none_open: str
    not_yours: str

    def layout(self, mode: str) -> str:
        """What a way to lay the canvas out is called."""
        return {"list": self.draw_list, "board": self.draw_board}.get(mode, self.draw_focus)

    def draw_chart(self, kind: ChartKind) -> str:
        return {"line": self.draw_line, "bar": self.draw_bars, "pie": self.draw_pie}[kind]

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
    keep=Choice("💾 メモリに覚える", "覚える", "覚えない"),
    replace=Choice("✏️ メモリ #{id} と入れ替える", "入れ替える", "そのまま"),
    change=Choice("✏️ メモリ #{id} を書き換える", "書き換える", "そのまま"),
    forget=Choice("🗑️ メモリ #{id} を忘れる", "忘れる", "残す"),
    remind=Choice("⏰ お知らせを予約する", "予約する", "予約しない"),
    cancel=Choice("🔕 お知らせ #{id} をやめる", "お知らせをやめる", "残す"),
    draw=Choice("🖼️ キャンバスを変える", "キャンバスを変える", "変えない"),
    one_of="{number}. {label}",
    now="いまの内容",
    then="変えたあとの内容",
    field="{name}: {value}",
    changed_field="{name}: {old} → {new}",
    time="日時",
    from_now="{time}（{moment}）",
    repeated="🔁 {repeat}（次は {time}）",
    draw_card="カードを出す: {title}",
    draw_text="文章を出す",
    draw_titled_text="文章を出す: {title}",
    draw_line="折れ線グラフを出す: {title}",
    draw_bars="棒グラフを出す: {title}",
    draw_pie="円グラフを出す: {title}",
    draw_update="「{title}」を書き換える",
    draw_remove="「{title}」を下ろす",
    title_of="題名",
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
    keep=Choice("💾 Remember this", "Remember it", "Don't remember"),
    replace=Choice("✏️ Replace memory #{id}", "Replace it", "Leave it"),
    change=Choice("✏️ Change memory #{id}", "Change it", "Leave it"),
    forget=Choice("🗑️ Forget memory #{id}", "Forget it", "Keep it"),
    remind=Choice("⏰ Set a reminder", "Set the reminder", "Don't set it"),
    cancel=Choice("🔕 Cancel reminder #{id}", "Cancel the reminder", "Keep it"),
    draw=Choice("🖼️ Change the canvas", "Change the canvas", "Leave it"),
    one_of="{number}. {label}",
    now="Text now",
    then="Text after the change",
    field="{name}: {value}",
    changed_field="{name}: {old} → {new}",
    time="When",
    from_now="{time} ({moment})",
    repeated="🔁 {repeat} (next: {time})",
    draw_card="Put up a card: {title}",
    draw_text="Put up a text",
    draw_titled_text="Put up a text: {title}",
    draw_line="Put up a line chart: {title}",
    draw_bars="Put up a bar chart: {title}",
    draw_pie="Put up a pie chart: {title}",
    draw_update="Change “{title}”",
    draw_remove="Take down “{title}”",
    title_of="Title",
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
