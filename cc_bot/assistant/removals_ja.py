"""What a Japanese sentence says was removed."""

import re
from typing import Final

from cc_bot.assistant.removals import NEAR, Claims, claims_of, last_named
from cc_bot.assistant.sentences import QUOTED_JA

_MEMORIES: Final = frozenset({"memory", "maybe_memory"})

_DID: Final = (
    r"(?:(?:て(?:おき|しまい|あげ)?|とき)?ました(?!ら|か|っけ|よ?ね|場合|際|とき|時|の[はがでに])"
    r"|(?:た|ておいた|といた)(?:よ(?!ね)|ぞ|から)|て(?:おきます|おくね|おくよ)|とき(?:ます)|とくね|とくよ"
    r"|(?:済|ず)みです)"
)
_REMOVED: Final = re.compile(
    r"(?:(?:削除|消去|取消|キャンセル|解除|破棄|抹消|クリア|リセット)(?:を|が)?(?:完了)?(?:(?:いた|致)?し|され|させていただき)"
    r"|(?:取り?消|取りけ|消|けし)(?:しを)?(?:(?:いた)?し|え|され|させていただき)|取り(?:除き|下げ|やめ)|(?P<forgot>忘れ(?:させていただき|ることにし)?)"
    r"|(?P<stopped>(?:停止|中止|オフに)(?:いた)?し|止め|とめ|やめ))"
    rf"{_DID}"
    r"|(?:削除|消去|取り?消し|キャンセル|解除)(?:が|は)?(?:完了(?:です|しました|いたしました)|済みです|となりました)"
    r"|(?:削除し|消去し|取り?消し|キャンセルし|解除し)て?、(?=[^。]{0,40}ました)"
    r"|(?P<silent>(?:もう|これ以上|今後は?|二度と)、?[^。、]{0,12}?(?:お知らせ|通知|リマインド)(?:は)?(?:し|いたし)ません"
    r"|(?:お知らせ|リマインダー|通知)は、?もう(?:届|来|鳴)[^。、]{0,3}(?:ません|ないよ))"
)
_NAMED: Final = re.compile(
    r"(?P<memory>(?:記憶|メモリー?)(?=から)|覚え(?:てい?た|ておいた|た|てい?る)(?:こと|内容|情報|もの))"
    r"|(?P<reminder>リマインダー|リマインド|お知らせ)|(?P<maybe_memory>記憶|メモリー?|(?:という|との|についての)(?:メモ|情報|記録))"
    r"|(?P<maybe_reminder>アラーム|通知|タイマー|スケジュール|(?<![のと])予定|[時分日朝昼晩夜後]の予定"
    r"|(?<![のルン店席室])予約|(?:[時分日朝昼晩夜後]|お知らせ|通知)の予約)"
)
_BESIDE: Final = re.compile(
    r"^(?:[^をがは。、]{0,12}?(?:と|や|、|・|および|及び|も)(?!い|の|し)"
    r"|を[^。、]{0,6}?(?:削除し|消し|消去し|取り?消し|忘れ|キャンセルし)(?:て)?[、,])"
)
"""After what was removed together with what is named next."""
_ALWAYS: Final = (
    r"(?:すべて|全て|全部|ぜんぶ|両方|完全に|きれいに|綺麗に|きれいさっぱり|さっぱり|すっかり|無事に?|正常に|確かに|確実に|しっかり"
    r"|たった今|ただいま|今|いま|もう|ちゃんと|きちんと|さっそく|早速|いったん|まとめて|ご希望どおり|ご依頼どおり"
    r"|ご希望通り|ご依頼通り|[0-9０-９]++件(?:とも)?|ひとつ|一つ|[、,，\s*_~＊])"
)
_UNNAMED: Final = re.compile(
    r"(?:^|[、,，])[^\w…]{0,8}"
    r"(?:(?:はい|ええ|うん|了解|承知|かしこまりました|わかりました|分かりました|OK|もちろん|では|それでは|です|しました)"
    rf"[、,，\s]{{0,4}}){{0,6}}{_ALWAYS}{{0,8}}+$"
    r"|(?:…|メモ|情報|好み|誕生日|名前|内容|こと|件|話|データ|項目|事実|プロフィール|登録|記録|それ|これ|そちら|こちら"
    r"|住所|電話番号|アドレス|年齢|職業|仕事|趣味|家族|アレルギー|出身|好物|それら|これら|もの|分|やつ|(?<![0-9０-９])[0-9０-９]++(?:番|つ|個)?)"
    rf"(?:[（(][^（()）]{{0,30}}[）)])?(?:について|に関して)?(?:を|は|も)?{_ALWAYS}{{0,8}}+$"
)
_FORGOTTEN: Final = re.compile(
    r"(?:(?:その|この|あの|あなたの|お客様の|という|との|の|た|な)(?:こと|件|情報|内容|話|お話|名前|好み|誕生日)"
    rf"|それ|…)(?:について|に関して)?(?:は|を|も)?{_ALWAYS}{{0,8}}+$"
)
_AS_FOR_THAT: Final = re.compile(rf"は{_ALWAYS}{{0,8}}+$")
"""Before 忘れました: 会社の住所は says what was to be forgotten, 傘を what was left behind."""
_TOLD: Final = re.compile(rf"{QUOTED_JA.pattern}|^[、,]?と[^。、]{{0,8}}(?:発表|説明|述べ|話|連絡)")
_EARLIER: Final = re.compile(
    r"(?:先ほど|先程|さきほど|さっき|以前|(?<![名午])前に|先日|前回|昨日|きのう|おととい|今朝|昨夜|ゆうべ|先週|先月"
    r"|すでに|既に|これまで|過去)"
    r"(?!の|[^、。]{0,16}?た[ぁ-んァ-ヶ一-龠…]|[^、。]{0,16}?ていた)"
    r"|(?:お伝え|お話|申し上げ)[^、。]{0,8}?(?:とおり|通り|ように)"
)
"""さっきのお知らせ and 先ほど設定したお知らせ are those that are removed now."""
_BY_NOW: Final = re.compile(r"もう(?!一度)[^。、]{0,6}$")
"""Before whatever but 忘れました: もう取り消しました tells of an earlier turn."""
_SOMEBODY: Final = re.compile(
    r"(?:彼|彼女|あなた|あなた方|君|みんな|皆|皆さん|子ども|子供|人々|母|父|兄|姉|弟|妹|祖母|祖父|夫|妻|友人|友達|先生|上司"
    r"|部長|社員|店員|運営|管理者|開発者|ユーザー|誰か|誰も|相手|犯人|主人公|店|会社"
    r"|[ぁ-んァ-ヶ一-龠A-Za-z]{1,8}(?:さん|さま|様|くん|ちゃん|氏|社|者|たち))(?:は|が|も|に)"
    r"(?![^。]{0,100}(?:という|との|こと|情報|記憶|メモ|好み|件))"
)
_SORRY: Final = re.compile(r"すみません|ごめん|申し訳|失礼|うっかり|残念|つい(?!て)|ど忘れ")
_CONDITION: Final = re.compile(
    r"(?:れば|たら|なら|場合|ときは|際は|時は|ると(?!い|の|き)|ても|と(?:言|い)って)[^。]*$"
)


def claims_ja(sentence: str) -> Claims:
    """What a sentence says in Japanese."""
    found: set[str] = set()
    unnamed = False
    for match in _REMOVED.finditer(sentence):
        before = sentence[: match.start()]
        forgot = match["forgot"] is not None
        if (
            _TOLD.search(sentence[match.end() :])
            or any(words.search(before) for words in (_EARLIER, _CONDITION, _SOMEBODY))
            or (_SORRY.search(sentence) if forgot else _BY_NOW.search(before))
        ):
            continue
        named = last_named(_NAMED, before, _beside)
        if match["silent"]:
            found.add("reminder")
        elif forgot and (named & _MEMORIES or _FORGOTTEN.search(before)):
            found.add("maybe_memory")
        elif match["stopped"] and named:
            found |= named - _MEMORIES
        elif named and not forgot:
            found |= named
        elif not named and forgot and _AS_FOR_THAT.search(before):
            unnamed = True
        elif not named:
            unnamed = unnamed or _UNNAMED.search(before) is not None
    return claims_of(found, unnamed=unnamed)


def _beside(first: bool, after: str) -> bool:
    if first:
        return len(after) <= NEAR and after.count("を") < 2 and not after.startswith("が")
    return _BESIDE.search(after) is not None
