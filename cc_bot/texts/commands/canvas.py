"""Names and descriptions of the commands for the canvas."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CanvasCommandTexts:
    canvas: str
    canvas_description: str
    canvas_show: str
    canvas_show_description: str
    canvas_clear: str
    canvas_clear_description: str


JA = CanvasCommandTexts(
    canvas="キャンバス",
    canvas_description="ボットが出しておくカード・文章・グラフ",
    canvas_show="表示",
    canvas_show_description="キャンバスを会話のいちばん下に出し直します",
    canvas_clear="空にする",
    canvas_clear_description="キャンバスに出ているものをすべて下げます",
)

EN = CanvasCommandTexts(
    canvas="canvas",
    canvas_description="Cards, texts and charts that the bot keeps up for you",
    canvas_show="show",
    canvas_show_description="Put the canvas at the bottom of the conversation again",
    canvas_clear="clear",
    canvas_clear_description="Take everything on the canvas down",
)
