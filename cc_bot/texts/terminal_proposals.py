"""Proposals in the terminal: what a model wants changed, and what became of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from cc_bot.domain.canvas import ChartKind


@dataclass(frozen=True, slots=True)
class TerminalProposalTexts:
    open: str
    """Above what waits for a decision."""
    keep: str
    """This and the next ones: what would be done. Parameter: id, of the proposal."""
    replace: str
    """Parameters: id, memory."""
    change: str
    """Parameters: id, memory."""
    forget: str
    """Parameters: id, memory."""
    remind: str
    cancel: str
    """Parameters: id, reminder."""
    draw: str
    text: str
    """Above the text, where there is one."""
    before: str
    """Above the text that is there now."""
    after: str
    """Above the one that would be there then."""
    field: str
    """Parameters: name, value."""
    field_changed: str
    """Parameters: name, old, new."""
    none: str
    """In place of tags, a title or an end that there is not."""
    when: str
    """Parameter: time."""
    when_repeated: str
    """Parameters: repeat, time (the first one)."""
    in_zone: str
    """After a time that is not the one of the user's own zone. Parameter: zone."""
    card: str
    """This and the next ones: one step of a drawing. Parameter: title."""
    shown_text: str
    chart: str
    """Parameters: kind, title."""
    kinds: Mapping[ChartKind, str]
    updated: str
    title: str
    removed: str
    cleared: str
    listed: str
    on_board: str
    focused: str
    how: str
    """Parameter: id."""
    declined: str
    """Parameter: id."""
    none_open: str
    choose: str
    """Where a number is needed."""
    id_needed: str


JA = TerminalProposalTexts(
    open="📝 確認待ちの提案です。まだ何も変えていません。",
    keep="提案 #{id}: メモリに覚える",
    replace="提案 #{id}: メモリ #{memory} の代わりに覚える",
    change="提案 #{id}: メモリ #{memory} を書き換える",
    forget="提案 #{id}: メモリ #{memory} を忘れる",
    remind="提案 #{id}: お知らせを予約する",
    cancel="提案 #{id}: お知らせ #{reminder} を取り消す",
    draw="提案 #{id}: キャンバスに描く",
    text="  内容:",
    before="  今の内容:",
    after="  変更後の内容:",
    field="  {name}: {value}",
    field_changed="  {name}: {old} → {new}",
    none="なし",
    when="  日時: {time}",
    when_repeated="  日時: {repeat}（最初は {time}）",
    in_zone="（{zone} の時刻）",
    card="  カードを出す: {title}",
    shown_text="  文章を出す: {title}",
    chart="  グラフ（{kind}）を出す: {title}",
    kinds={"line": "折れ線", "bar": "棒", "pie": "円"},
    updated="  書き換える: {title}",
    title="題名",
    removed="  外す: {title}",
    cleared="  出ているものをすべて外す",
    listed="  上から順に並べる",
    on_board="  横に並べる",
    focused="  これだけを見せる: {title}",
    how="  実行するなら /accept {id}、しないなら /decline {id}",
    declined="提案 #{id} は実行しません。何も変えていません。",
    none_open="確認待ちの提案はありません。",
    choose="どれにするか、番号を付けて入力してください。",
    id_needed="提案の番号を書いてください。たとえば /accept 3 です。/accept だけなら、確認待ちのものを見られます。",
)

EN = TerminalProposalTexts(
    open="📝 This waits for your decision. Nothing is changed yet.",
    keep="Proposal #{id}: remember",
    replace="Proposal #{id}: remember in place of memory #{memory}",
    change="Proposal #{id}: change memory #{memory}",
    forget="Proposal #{id}: forget memory #{memory}",
    remind="Proposal #{id}: set a reminder",
    cancel="Proposal #{id}: cancel reminder #{reminder}",
    draw="Proposal #{id}: draw on the canvas",
    text="  Text:",
    before="  Text now:",
    after="  Text then:",
    field="  {name}: {value}",
    field_changed="  {name}: {old} → {new}",
    none="none",
    when="  When: {time}",
    when_repeated="  When: {repeat} (first on {time})",
    in_zone=" ({zone} time)",
    card="  Put up a card: {title}",
    shown_text="  Put up a text: {title}",
    chart="  Put up a {kind} chart: {title}",
    kinds={"line": "line", "bar": "bar", "pie": "pie"},
    updated="  Change: {title}",
    title="Title",
    removed="  Take down: {title}",
    cleared="  Take everything down",
    listed="  One below the other",
    on_board="  Side by side",
    focused="  Show this one alone: {title}",
    how="  To have it done, enter /accept {id}; if not, /decline {id}",
    declined="Proposal #{id} is dropped. Nothing was changed.",
    none_open="Nothing waits for your decision.",
    choose="Please enter the one you mean with its number.",
    id_needed="Give the number of the proposal, for example: /accept 3. /accept alone shows those that wait.",
)
