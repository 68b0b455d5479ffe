"""Texts that speech models write for silence."""

import re
import unicodedata
from typing import Final

_SHORT_S: Final = 30.0
"""Up to this length such a phrase may be the whole transcript."""
_SLOWEST: Final = 1.0
"""Characters a second; fewer mean silence."""
_NOTE: Final = re.compile(r"[\[(（【<][^\[\](){}（）【】<>]{0,40}[\])）】>]")
"""Such as [BLANK_AUDIO] and (音楽)."""
# Ends of videos that speech models were trained on.
_PHRASES: Final = """
    ご視聴ありがとうございました ご視聴ありがとうございます ご清聴ありがとうございました
    ご覧いただきありがとうございました 最後までご視聴いただきありがとうございました
    最後までご視聴いただきありがとうございます 最後まで視聴してくださって本当にありがとうございました
    字幕視聴ありがとうございました チャンネル登録お願いします チャンネル登録をお願いします
    チャンネル登録をお願いいたします チャンネル登録よろしくお願いします 高評価とチャンネル登録をお願いします
    次の動画でお会いしましょう また次の動画でお会いしましょう thankyouforwatching thanksforwatching
    thankyousomuchforwatching thankyouforwatchingthisvideo pleasesubscribe pleasesubscribetomychannel
    pleaselikeandsubscribe dontforgettolikeandsubscribe seeyouinthenextvideo illseeyouinthenextvideo
    subtitlesbytheamaraorgcommunity transcriptionbycastingwords you
"""
_OF_SILENCE: Final = sorted(_PHRASES.split(), key=len, reverse=True)


def is_silence_artifact(text: str, seconds: float) -> bool:
    """Return whether a transcript has no words but those that models make of silence."""
    rest = "".join(filter(str.isalnum, unicodedata.normalize("NFKC", _NOTE.sub("", text)).casefold()))
    if not rest:
        return True
    if seconds > _SHORT_S and len(rest) >= seconds * _SLOWEST:
        return False
    while rest:
        phrase = next((phrase for phrase in _OF_SILENCE if rest.startswith(phrase)), None)
        if phrase is None:
            return False
        rest = rest.removeprefix(phrase)
    return True
