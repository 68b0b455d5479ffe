"""Japanese names of what the terminal alone has; those of everything else are Discord's."""

from collections.abc import Mapping
from typing import Final

JAPANESE_NAMES: Final[Mapping[str, str]] = {
    "regenerate": "答え直す",
    "continue": "続ける",
    "attach": "添付",
    "detach": "添付取り消し",
    "accept": "実行",
    "decline": "見送る",
    "memory undo": "メモリ 元に戻す",
    "memory restore": "メモリ 復元",
    "summary delete": "要約 削除",
    "exit": "終了",
}
