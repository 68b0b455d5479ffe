"""The clock, passed as an argument, and time zones by the words people use."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from cc_bot.domain.text import hiragana

Clock = Callable[[], datetime]
DISCORD_EPOCH_MS: Final = 1420070400000  # the upper bits of a Discord id are the milliseconds since then
MAX_CLOCK_SKEW: Final = timedelta(minutes=1)
"""How far stored times may be ahead of this clock: another machine may have written them."""

UNDO_TIME: Final = timedelta(minutes=10)
"""How long what a user deleted is hidden, and can be restored, before it is deleted for good."""


def utc_now() -> datetime:
    return datetime.now(UTC)


DEFAULT_ZONE: Final = "Asia/Tokyo"

_WORDS_BY_ZONE: Final[Mapping[str, str]] = {
    DEFAULT_ZONE: (
        "東京 日本 にほん にっぽん とうきょう 大阪 おおさか 京都 名古屋 札幌 北海道 仙台 横浜 神戸 広島"
        " 福岡 九州 沖縄 おきなわ 那覇 jst japan osaka"
    ),
    "Asia/Seoul": "ソウル 韓国 かんこく プサン 釜山 kst korea southkorea",
    "Asia/Taipei": "台北 台湾 たいわん たいぺい taiwan",
    "Asia/Shanghai": "上海 中国 北京 ちゅうごく しゃんはい ぺきん 深圳 広州 china beijing",
    "Asia/Hong_Kong": "香港 ほんこん hkt hongkong",
    "Asia/Macau": "マカオ macao",
    "Asia/Singapore": "シンガポール sgt singapore",
    "Asia/Bangkok": "バンコク タイ タイランド ict thailand",
    "Asia/Ho_Chi_Minh": "ホーチミン ベトナム ハノイ vietnam hanoi saigon",
    "Asia/Manila": "マニラ フィリピン セブ philippines cebu",
    "Asia/Jakarta": "ジャカルタ インドネシア wib indonesia",
    "Asia/Makassar": "バリ バリ島 bali",
    "Asia/Kuala_Lumpur": "クアラルンプール マレーシア malaysia",
    "Asia/Phnom_Penh": "プノンペン カンボジア cambodia",
    "Asia/Yangon": "ヤンゴン ミャンマー myanmar",
    "Asia/Ulaanbaatar": "ウランバートル モンゴル mongolia",
    "Asia/Kathmandu": "カトマンズ ネパール nepal",
    "Asia/Dhaka": "ダッカ バングラデシュ bangladesh",
    "Asia/Kolkata": "インド デリー ニューデリー ムンバイ コルカタ ist india delhi newdelhi mumbai",
    "Asia/Dubai": "ドバイ アラブ首長国連邦 uae アブダビ abudhabi",
    "Asia/Riyadh": "リヤド サウジアラビア saudiarabia",
    "Asia/Jerusalem": "エルサレム イスラエル テルアビブ israel telaviv",
    "Europe/Istanbul": "イスタンブール トルコ turkey",
    "Europe/Moscow": "モスクワ ロシア msk russia",
    "Asia/Vladivostok": "ウラジオストク",
    "Europe/Kyiv": "キーウ キエフ ウクライナ ukraine kiev",
    "Europe/Helsinki": "ヘルシンキ フィンランド eet eest finland",
    "Europe/Athens": "アテネ ギリシャ greece",
    "Europe/Stockholm": "ストックホルム スウェーデン sweden",
    "Europe/Oslo": "オスロ ノルウェー norway",
    "Europe/Copenhagen": "コペンハーゲン デンマーク denmark",
    "Europe/Berlin": "ベルリン ドイツ ミュンヘン フランクフルト cet cest germany munich frankfurt",
    "Europe/Paris": "パリ フランス france",
    "Europe/Madrid": "マドリード スペイン バルセロナ spain barcelona",
    "Europe/Rome": "ローマ イタリア ミラノ italy milan",
    "Europe/Vienna": "ウィーン オーストリア austria",
    "Europe/Zurich": "チューリッヒ スイス ジュネーブ switzerland geneva",
    "Europe/Amsterdam": "アムステルダム オランダ netherlands holland",
    "Europe/Brussels": "ブリュッセル ベルギー belgium",
    "Europe/Warsaw": "ワルシャワ ポーランド poland",
    "Europe/Prague": "プラハ チェコ czechia",
    "Europe/Budapest": "ブダペスト ハンガリー hungary",
    "Europe/London": "ロンドン イギリス 英国 bst uk britain england",
    "Europe/Dublin": "ダブリン アイルランド ireland",
    "Europe/Lisbon": "リスボン ポルトガル wet west portugal",
    "Atlantic/Reykjavik": "レイキャビク アイスランド iceland",
    "America/New_York": "ニューヨーク アメリカ 米国 ワシントン ボストン マイアミ est edt nyc usa us america",
    "America/Chicago": "シカゴ ヒューストン ダラス アメリカ 米国 cst cdt usa us america houston dallas",
    "America/Denver": "デンバー アメリカ 米国 mst mdt usa us america",
    "America/Los_Angeles": (
        "ロサンゼルス ロス サンフランシスコ シアトル ラスベガス アメリカ 米国 pst pdt pt la usa us america"
        " sanfrancisco seattle lasvegas"
    ),
    "America/Anchorage": "アンカレッジ アラスカ akst akdt alaska",
    "Pacific/Honolulu": "ハワイ ホノルル hst hawaii",
    "Pacific/Guam": "グアム chst",
    "America/Toronto": "トロント カナダ モントリオール canada montreal",
    "America/Vancouver": "バンクーバー カナダ canada",
    "America/Mexico_City": "メキシコ メキシコシティ mexico",
    "America/Sao_Paulo": "サンパウロ ブラジル リオデジャネイロ brazil rio",
    "America/Argentina/Buenos_Aires": "ブエノスアイレス アルゼンチン argentina",
    "America/Santiago": "サンティアゴ チリ chile",
    "America/Lima": "リマ ペルー peru",
    "Africa/Cairo": "カイロ エジプト egypt",
    "Africa/Nairobi": "ナイロビ ケニア kenya",
    "Africa/Johannesburg": "ヨハネスブルグ 南アフリカ southafrica",
    "Australia/Sydney": "シドニー オーストラリア メルボルン aest aedt australia",
    "Australia/Brisbane": "ブリスベン ケアンズ ゴールドコースト cairns",
    "Australia/Perth": "パース awst",
    "Pacific/Auckland": "オークランド ニュージーランド nzst nzdt newzealand",
    "UTC": "世界標準時 協定世界時 utc gmt z",
}
"""Words for a zone besides its name. A word listed for several zones means the first."""


_UTC: Final = ZoneInfo("UTC")


def zone_named(name: str | None, default: ZoneInfo = _UTC) -> ZoneInfo:
    """Return the zone with a stored name; the default if the name is empty or unknown."""
    try:
        return ZoneInfo(name or "")
    except (ZoneInfoNotFoundError, ValueError, OSError):  # OSError: the name of a folder of zones
        return default


def zone_name_for_word(typed: str) -> str:
    """Return the name of the zone that a word means; the word itself if it means none."""
    folded = _fold(typed)
    if _OFFSET.fullmatch(folded):  # an offset alone is ambiguous
        return DEFAULT_ZONE if _DEFAULT_ZONE_OFFSET.fullmatch(folded) else typed.strip()
    return next(iter(_zones_by_word().get(folded, ())), typed.strip())


def suggest_zones(typed: str, own_zone: str | None = None) -> list[str]:
    """Return zones that match a typed prefix, best first. If it is empty: `own_zone`, then common zones."""
    folded = _fold(typed)
    if not folded:
        return _existing_zones([*filter(None, [own_zone]), DEFAULT_ZONE, *_WORDS_BY_ZONE, *_zone_names()])
    words = [word for word in _zones_by_word() if word.startswith(folded) or ("/" in word and folded in word)]
    words.sort(key=lambda word: (word != folded, not word.startswith(folded)))
    return _existing_zones(zone for word in words for zone in _zones_by_word()[word])


_OFFSET: Final = re.compile(r"(?:utc|gmt)?[+−-]\d{1,2}(?::?\d\d)?")
_DEFAULT_ZONE_OFFSET: Final = re.compile(r"(?:utc|gmt)?\+0?9(?::?00)?")
_INVERTED_OFFSET: Final = re.compile(r"(?:Etc/)?GMT[+-]?\d+")
"""POSIX inverts the sign: Etc/GMT+9 is nine hours behind UTC."""


@cache
def _zone_names() -> tuple[str, ...]:
    zones = available_timezones() - {"localtime", "Factory"}
    return tuple(sorted(zone for zone in zones if not _INVERTED_OFFSET.fullmatch(zone)))


@cache
def _zones_by_word() -> Mapping[str, list[str]]:
    zones: dict[str, list[str]] = {}
    for zone, words in _WORDS_BY_ZONE.items():
        for word in words.split():
            zones.setdefault(_fold(word), []).append(zone)
    for zone in filter(lambda zone: "/" in zone, _zone_names()):
        for word in (zone.rsplit("/", 1)[1], zone):
            zones.setdefault(_fold(word), []).append(zone)
    return zones


def _existing_zones(zones: Iterable[str]) -> list[str]:
    known = frozenset(_zone_names())
    return [zone for zone in dict.fromkeys(zones) if zone in known]


def _fold(text: str) -> str:
    plain = hiragana(unicodedata.normalize("NFKC", text).casefold())
    return "".join(each for each in plain if each not in " _・")
