"""Whether what the bot wrote is in the language of the one who asked.

Deliberately coarse: kana are Japanese and nothing else, so English must have none and Japanese some. Text
that the user or the model wrote may be in any language; a test says so with `reply.any_language = True`.
"""

import re

KANA = re.compile(r"[ぁ-ゖァ-ヺ]")
LETTER = re.compile(r"[^\W\d_]")


def is_wrong(locale: str, written: str) -> bool:
    """True for kana under another locale than Japanese, and for letters without any kana under Japanese."""
    if not LETTER.search(written):
        return False
    has_kana = KANA.search(written) is not None
    return not has_kana if locale == "ja" else has_kana
