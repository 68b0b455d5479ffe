"""How people ask to be reminded, and to be no longer reminded; and what is left when that is taken away."""

import re
from typing import Final


def _either(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.IGNORECASE)


def _words(words: str) -> str:
    """Whole words of English, with `_` for a space within one of them."""
    return rf"(?<![a-z])(?:{'|'.join(words.split())})(?![a-z])".replace("_", r"\s")


_WEEKDAY_EN: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_NUMBER_JA: Final = r"(?:\d{1,4}|[一二三四五六七八九十]+|半|数)"
_EACH_JA: Final = r"(?:毎[日朝晩夕週月年時]|平日|週末)"
_MOMENT_JA: Final = (
    rf"(?:\d{{1,2}}[:：]\d{{2}}|{_NUMBER_JA}\s*(?:時(?!間)(?:半|{_NUMBER_JA}分)?|時間半?後?|[分秒日]後?|週間後?"
    r"|[かヶ]月後?)|正午|朝|昼|夕方|夜|晩|明日|あした|あす|明後日|あさって|今日|来週|来月|[月火水木金土日]曜日?"
    r"|前日|当日|直前|後|あと|その時|そのとき)"
)
_MOMENT_EN: Final = (
    r"(?:at (?:\d|noon|midnight)|in (?:\d+|an?|half)\b|every|each|when it'?s|tomorrow (?:at|morning|evening)"
    rf"|on {_WEEKDAY_EN})"
)
TIME: Final = _either(
    _MOMENT_JA,
    _EACH_JA,
    r"\b\d{1,2}:\d{2}",
    _words(r"\d{1,2}\s*(?:am|pm|o'clock) at_\d{1,2} in_(?:\d+|an?|half) next_(?:week|month|year) when_it'?s"),
    _words(f"noon midnight tonight tomorrow later every each daily morning afternoon evening {_WEEKDAY_EN}"),
)
_TELL_THEN: Final = _either(
    rf"(?:{_MOMENT_JA}|まで)(?:に(?!つい)|ごろ|頃|になったら|が来たら|したら|経ったら|たったら|で)[^。?？\n]{{0,40}}?"
    r"(?:教え|言っ|伝え|話しかけ|声(?:を)?かけ|連絡し)て",
    rf"{_EACH_JA}[^。?？\n]{{0,40}}?(?:教え|言っ|伝え|話しかけ|声(?:を)?かけ|連絡し)て",
    rf"(?:{_MOMENT_JA}|{_EACH_JA})[^。?？\n]{{0,60}}?(?:知らせ|しらせ|通知し|呼ん)[てで](?!ない)",
    rf"(?<![a-z])(?:tell|let|message|call|text|write|poke)(?: to)? me\b[^.?!\n]{{0,60}}?\b{_MOMENT_EN}",
    rf"(?<![a-z]){_MOMENT_EN}[^.?!\n]{{0,40}}?\b(?:tell|let|message) me\b",
    rf"{_MOMENT_JA}[^。?？\n]{{0,40}}?って(?:言っ|伝え)て(?!い|る|た|ま)",
)
_REMIND: Final = _either(
    r"リマインド(?!メール)",
    r"リマインダー?(?:を|に)?[^。?？\n]{0,10}(?:設定|セット|追加|登録|入れ|作[っり]|お願い|頼|して|かけ|[:：])",
    r"(?:アラーム|目覚まし|タイマー)(?:を|に)?[^。?？\n]{0,10}(?:設定|セット|かけ|鳴らし|お願い|頼|して|[:：])",
    r"(?:お知らせ|通知)(?:を)?(?:設定|セット|予約|追加|登録|お願い|して|ください)|思い出させて|(?:起こ|おこ)して",
    r"忘れないように[^。?？\n]{0,10}(?:言って|声|知らせ|教え|通知)",
    rf"(?:アラーム|目覚まし|タイマー)\s*{_MOMENT_JA}|{_NUMBER_JA}\s*(?:分|秒|時間)(?:の)?(?:タイマー|(?:を)?[計測]って|はかって)",
    r"(?<![a-z])heads[- ]?up (?:at|in|when|before|tomorrow)\b",
    _words("remind wake_me notify_me ping_me alert_me nudge_me buzz_me don'?t_let_me_forget"),
    r"(?<![a-z])(?:set|make|create|add|schedule|put)\b[^.?!\n]{0,30}\b(?:reminder|alarm|timer|alert)s?\b",
    r"(?<![a-z])schedule (?:an?|the|it|this|that|my|me)\b",
)
_NO_REMINDER: Final = _either(
    r"(?:リマインド|リマインダー|通知|お知らせ|アラーム)(?:は|を|も)?"
    r"(?:しな|せず|不要|いらな|要らな|やめ|止め|取り消|取消|消し|オフ)",
    r"(?:教え|知らせ|起こさ|伝え)な(?:くて|いで)",
    r"(?<![a-z])(?:do not|don'?t|stop|no need to|quit|never) (?:remind|wake|notify|ping|alert|nudge|tell)\w*",
)
CHANGE: Final = _either(
    r"変え|変更|ずらし|延期|早め|遅らせ|やっぱり|にして|じゃなく",
    _words("change move postpone reschedule instead make_it actually rather"),
)
CANCEL: Final = _either(
    r"取り消|取消|キャンセル|やめ(?:て|と|る|よう|たい|にして|ます)|止め(?:て|と)|停止|消し(?:て|と|たい)|けして|削除|解除",
    r"(?:もう)?(?:いらな|要らな|必要な)(?:い|く)|不要|なし(?:で|に)|なくていい|オフに|変え|変更|ずらし|延期|早め|遅らせ",
    _words(
        "cancel delete remove stop drop clear call(?:ed)?_off turn_off switch_off scrap change move postpone"
    ),
    _words(r"(?:do_not|don'?t|no_longer|not)[^.?!\n]{0,20}(?:remind|need|want) reschedule"),
)
REPEATING: Final = _either(
    r"毎|平日|週末|おき|ごと|繰り返|くりかえ|くり返|定期|いつも|ずっと",
    _words("every each daily weekly monthly yearly annually hourly weekdays? weekends? recurring regularly"),
    _words(rf"repeat\w* {_WEEKDAY_EN}s"),
)
ABOUT_REMINDING: Final = _either(
    r"リマイン|お?知らせ|通知|アラーム|起こし|声をかけ|教え|予約|設定",
    _words(r"remind reminder notif\w* alert alarm wake ping schedule let_you_know tell_you"),
)
ABOUT_CANCELLING: Final = _either(
    r"取り消|取消|キャンセル|やめ|止め|消し|削除|解除|変更|変え",
    _words(r"cancel\w* delete remove stop change move"),
)
EVERYTHING: Final = _either(r"全部|ぜんぶ|全て|すべて|一切", _words("all every everything"))
_FRAME: Final = _either(
    r"リマインダー?|リマインド|お知らせ|通知|アラーム|タイマー|目覚まし|予約|予定|スケジュール|設定|セット|繰り返し",
    r"(?:教え|知らせ|伝え|起こし|連絡し|通知し|言っ|呼ん|思い出させ)[てで]|して(?:おいて)?|する|した|します|しといて",
    r"ください|下さい|ほしい|欲しい|お願い(?:します)?|くれ(?:る|ない|ますか)?|もらえる|ちょうだい|忘れない(?:で|ように)",
    r"です|ます|こと|って|という|ように|(?:に|の)?なったら|わたし|ぼく|おれ|私|僕|俺|自分|それ|これ|あれ|その|この|あの",
    r"さっき|時間|起きる|経っ|たっ|ぴったり|ごろ|頃|再来週|来[週月年]|毎[日朝晩夕週月年時]|平日|週末|[月火水木金土日]曜日?",
    r"明後日|あさって|明日|あした|あす|今[日夜晩]|正午|朝|昼|夕方|夜",
    r"(?:\d+|[一二三四五六七八九十]+)\s*(?:時間?|分|秒|日|週間?|か月|ヶ月|月|年)(?:後|半|ごと|おき)?|\d+[:：]\d+",
    r"やっぱり|やはり|もう|ちょっと|(?<![ぁ-ん])(?:(?:の|に|で)?は|の|に|が|を|で|も|と|へ|から|まで|半)(?![ぁ-ん])",
    _words(
        "remind(?:er|ers)? me to about that this the an? my i it'?s? at in on of for is please tell let know"
    ),
    _words(
        "wake up ping notify alert alarm timer set make create add schedule every each day daily week month"
    ),
    _words(
        r"hours? minutes? days? weeks? tomorrow today tonight morning afternoon evening night noon midnight"
    ),
    _words(rf"am pm next can could would will you when time and \d+ user(?:'s)? from now {_WEEKDAY_EN}s?"),
    _words(r"o'clock later give heads[-\s]?up"),
)


def wants_reminder(question: str) -> bool:
    """Whether a question asks to be told something at a later time."""
    left = _NO_REMINDER.sub(" ", question)
    return bool(_REMIND.search(left) or _TELL_THEN.search(left))


def wants_no_reminder(question: str) -> bool:
    """Whether a question asks for no longer being told something, or at another time."""
    return bool(CANCEL.search(question) or _NO_REMINDER.search(question))


def without_frame(text: str) -> str:
    """What a question or a reminder is about, without the words that ask for it, and without times."""
    return _FRAME.sub(" ", text)
