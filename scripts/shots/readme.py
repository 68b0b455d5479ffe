"""The README about as GitHub shows it."""

from pathlib import Path
from typing import Final

from markdown_it import MarkdownIt

from scripts.shots.shooting import Shooter

ROOT: Final = Path(__file__).parents[2]
STYLE: Final = """
body { font: 16px/1.5 "Noto Sans", "Noto Sans CJK JP", sans-serif, "Noto Color Emoji";
  max-width: 1012px; box-sizing: border-box;
  margin: 0 auto; padding: 32px 24px; color: #1f2328; overflow-wrap: break-word; }
h1, h2 { border-bottom: 1px solid #d1d9e0; padding-bottom: 0.3em; line-height: 1.25; }
a { color: #0969da; text-decoration: none; } img { max-width: 100%; }
img[alt="CI"] { display: none; } /* drawn by GitHub */
code { font: 85% monospace; background: #818b981f; padding: 0.2em 0.4em; border-radius: 6px; }
pre { background: #f6f8fa; padding: 16px; border-radius: 6px; overflow: auto; }
pre code { background: none; padding: 0; }
table { border-collapse: collapse; display: block; overflow: auto; }
td, th { border: 1px solid #d1d9e0; padding: 6px 13px; }
blockquote { border-left: 4px solid #d1d9e0; color: #59636e; margin: 0; padding: 0 1em; }
"""


async def shoot(shooter: Shooter, locale: str, _: Path) -> None:
    text = (ROOT / ("README.ja.md" if locale == "ja" else "README.md")).read_text("utf-8")
    body = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(text)
    head = f'<!doctype html><html lang="{locale}"><meta charset="utf-8"><base href="{ROOT.as_uri()}/">'
    for width in (390, 1012):
        await shooter.draw(f"{head}<style>{STYLE}</style>{body}", f"readme-{locale}-{width}", width)
