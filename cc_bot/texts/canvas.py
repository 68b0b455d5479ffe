"""What stands around a canvas, and what its commands answer."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CanvasTexts:
    of_user: str
    """Above the message that everyone in a channel sees."""
    own: str
    """Above the one that its user alone sees."""
    private_marked: str
    """What the lock before a title means, where not every element has one."""
    others: str
    """Names the elements that are up beside the one in focus; `{titles}`."""
    changed: str
    """Under an answer: the message may stand far above it."""
    changed_unseen: str
    """Under the answer of an agent that its user has left: `{display}` has a canvas that is not shown."""
    emptied: str
    """Under an answer."""
    cut: str
    """What is left out stands in a file."""
    cut_for_good: str
    file_name: str
    empty: str
    shown: str
    shown_with_private: str
    shown_private: str
    shown_to_you: str
    cleared: str
    cleared_already: str
    changed_here: str
    """Under an answer in the terminal."""


CANVAS_JA = CanvasTexts(
    of_user="🖼️ {user} さんのキャンバス",
    own="🖼️ あなたのキャンバス",
    private_marked="🔒 のついたものは、あなただけに見えています。",
    others="ほかに: {titles}",
    changed="🖼️ キャンバスを更新しました。</canvas show> で下に出し直せます。",
    changed_unseen="🖼️ 「{display}」のキャンバスを更新しました。</agent use> で「{display}」に切り替えると見られます。",
    emptied="🖼️ キャンバスは空になりました。",
    cut="長いため一部を省いています。全文は添付のファイルにあります。",
    cut_for_good="長いため一部を省いています。",
    file_name="キャンバス.md",
    empty="キャンバスには何も出ていません。「買うものをキャンバスに出して」のように頼んでみてください。",
    shown="🖼️ キャンバスを下に出しました。",
    shown_with_private="🖼️ キャンバスを下に出しました。あなただけに見えるものは、ここに出します。",
    shown_private="🖼️ キャンバスに出ているものは、あなただけに見えます。",
    shown_to_you="🖼️ いまはこのチャンネルに送れないため、あなただけに見える形で出します。",
    cleared="🧹 キャンバスを空にしました。会話の内容はそのままです。",
    cleared_already="キャンバスにはもう何も出ていません。",
    changed_here="🖼️ キャンバスを書き換えました。/canvas で見られます。",
)

CANVAS_EN = CanvasTexts(
    of_user="🖼️ {user}'s canvas",
    own="🖼️ Your canvas",
    private_marked="Only you can see what is marked 🔒.",
    others="Also up: {titles}",
    changed="🖼️ The canvas is updated. </canvas show> puts it down here again.",
    changed_unseen="🖼️ The canvas of {display} is updated. Switch with </agent use> to see it.",
    emptied="🖼️ The canvas is empty now.",
    cut="Some of it is too long to show. The attached file has all of it.",
    cut_for_good="Some of it is too long to show.",
    file_name="canvas.md",
    empty='Nothing is on the canvas. Ask for it, like "put my shopping list on the canvas".',
    shown="🖼️ The canvas is below.",
    shown_with_private="🖼️ The canvas is below. What only you can see is here.",
    shown_private="🖼️ Only you can see what is on the canvas.",
    shown_to_you="🖼️ I can't post in this channel at the moment, so only you can see this.",
    cleared="🧹 The canvas is empty now. Our conversation stays as it is.",
    cleared_already="There is nothing on the canvas any more.",
    changed_here="🖼️ The canvas has changed. /canvas shows it.",
)

# ---- chart -----------------------------------------------------------------------------------------------
# The few words that stand in a chart.


@dataclass(frozen=True, slots=True)
class ChartTexts:
    others: str
    """The slice that holds what is too small for one of its own. Parameter: count."""


CHART_JA = ChartTexts(others="その他（{count}件）")

CHART_EN = ChartTexts(others="Other ({count})")
