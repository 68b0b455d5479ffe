"""How kanji may be read: everyday words, both ways, and what the table must hold.

The words are what people write into notes; no list of them is kept outside this file, so that a reading that
gets lost is noticed by the word that needs it.
"""

import re
import tracemalloc
from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain.text import hiragana
from cc_bot.search.readings import kanji_table, parse_table, readings, table_lines


def _words(text: str) -> list[tuple[str, str]]:
    fields = text.split()
    return list(zip(fields[::2], fields[1::2], strict=True))


# The kanji's own readings, with the changes where two meet.
COMPOUNDS = _words("""
    学校 がっこう 発表 はっぴょう 出発 しゅっぱつ 石鹸 せっけん 薄荷 はっか 日記 にっき 楽器 がっき
    切符 きっぷ 心配 しんぱい 散歩 さんぽ 乾杯 かんぱい 散髪 さんぱつ 手紙 てがみ 本棚 ほんだな
    虫歯 むしば 花束 はなたば 鼻水 はなみず 日傘 ひがさ 長靴 ながぐつ 手袋 てぶくろ 髪型 かみがた
    壁紙 かべがみ 口紅 くちべに 油絵 あぶらえ 焼肉 やきにく 焼鳥 やきとり 枝豆 えだまめ 里芋 さといも
    大雨 おおあめ 小鳥 ことり 金魚 きんぎょ 時々 ときどき 人々 ひとびと 色々 いろいろ 少々 しょうしょう
    刺繍 ししゅう 裁縫 さいほう 毛糸 けいと 携帯電話 けいたいでんわ 充電器 じゅうでんき 洗濯機 せんたくき
    冷蔵庫 れいぞうこ 玄関 げんかん 廊下 ろうか 家族 かぞく 両親 りょうしん 幼稚園 ようちえん
    小学校 しょうがっこう 卒業式 そつぎょうしき 運動会 うんどうかい 宿題 しゅくだい 鉛筆 えんぴつ
    弁当 べんとう 授業 じゅぎょう 会議室 かいぎしつ 請求書 せいきゅうしょ 契約書 けいやくしょ
    残業 ざんぎょう 給料 きゅうりょう 履歴書 りれきしょ 免許証 めんきょしょう 保険証 ほけんしょう
    健康診断 けんこうしんだん 血液型 けつえきがた 花粉症 かふんしょう 喘息 ぜんそく
    予防接種 よぼうせっしゅ 処方箋 しょほうせん 絆創膏 ばんそうこう 筋肉痛 きんにくつう 睡眠 すいみん
    化粧品 けしょうひん 洗剤 せんざい 牛肉 ぎゅうにく 鶏肉 とりにく 砂糖 さとう 醤油 しょうゆ 豆腐 とうふ
    納豆 なっとう 大根 だいこん 喫茶店 きっさてん 食堂 しょくどう 誕生日 たんじょうび
    結婚記念日 けっこんきねんび 電話番号 でんわばんごう 住所 じゅうしょ 銀行口座 ぎんこうこうざ
    家計簿 かけいぼ 借金 しゃっきん 財布 さいふ 腕時計 うでどけい 駐車場 ちゅうしゃじょう 地下鉄 ちかてつ
    時刻表 じこくひょう 改札口 かいさつぐち 美術館 びじゅつかん 水族館 すいぞくかん 旅館 りょかん
    映画館 えいがかん 懐中電灯 かいちゅうでんとう 卓球 たっきゅう 合唱 がっしょう 漫画 まんが 雑誌 ざっし
    約束 やくそく 受付 うけつけ 買物 かいもの 割引 わりびき 入口 いりぐち 年賀状 ねんがじょう
""")
ALONE = _words("""
    傘 かさ 鍵 かぎ 卵 たまご 塩 しお 酢 す 苺 いちご 桃 もも 栗 くり 鮭 さけ 鯖 さば 鮪 まぐろ 鰯 いわし
    蛸 たこ 檜 ひのき 杉 すぎ 桜 さくら 甥 おい 姪 めい 孫 まご 本 ほん 肉 にく 駅 えき 嬉 うれ 噂 うわさ
    麦 むぎ
""")
WITH_OKURIGANA = _words("""
    食べ物 たべもの 飲み薬 のみぐすり 編み物 あみもの 折り紙 おりがみ 打ち合わせ うちあわせ
    締め切り しめきり 目覚まし時計 めざましどけい 紅葉狩り もみじがり お年玉 おとしだま お土産 おみやげ
    母の日 ははのひ 夏祭り なつまつり 消しゴム けしごむ 引っ越し ひっこし 付き合い つきあい 達する たっする
    手伝い てつだい 嬉しい うれしい
""")
IRREGULAR = _words("""
    今日 きょう 明日 あした 明日 あす 昨日 きのう 今朝 けさ 大人 おとな 一人 ひとり 二人 ふたり
    二十歳 はたち 二十日 はつか 一日 ついたち 三日 みっか 眼鏡 めがね 上手 じょうず 下手 へた 部屋 へや
    時計 とけい 果物 くだもの 八百屋 やおや 土産 みやげ 田舎 いなか 梅雨 つゆ 紅葉 もみじ 紅葉 こうよう
    息子 むすこ 浴衣 ゆかた 布団 ふとん 煙草 たばこ 珈琲 こーひー 林檎 りんご 蜜柑 みかん 百合 ゆり
    向日葵 ひまわり 紫陽花 あじさい 薔薇 ばら 海老 えび 烏賊 いか 秋刀魚 さんま 小豆 あずき 蕎麦 そば
    饂飩 うどん 流石 さすが 従兄弟 いとこ 叔父 おじ 伯母 おば 風邪 かぜ 相撲 すもう 真面目 まじめ
    白髪 しらが 吹雪 ふぶき 南瓜 かぼちゃ 寿司 すし 刺青 いれずみ
""")
NAMES = _words("""
    佐藤 さとう 鈴木 すずき 高橋 たかはし 田中 たなか 伊藤 いとう 渡辺 わたなべ 山本 やまもと
    中村 なかむら 小林 こばやし 吉田 よしだ 井上 いのうえ 佐々木 ささき 長谷川 はせがわ 阿部 あべ
    服部 はっとり 斎藤 さいとう 齋藤 さいとう 太田 おおた 杉山 すぎやま 智子 ともこ 翔太 しょうた
    美咲 みさき 大輔 だいすけ 直人 なおと 有香 ゆか 東京 とうきょう 大阪 おおさか 神戸 こうべ
    名古屋 なごや 札幌 さっぽろ 日本 にほん 日本 にっぽん
""")
WORDS = [*COMPOUNDS, *ALONE, *WITH_OKURIGANA, *IRREGULAR, *NAMES]

kanji_runs = st.text(st.sampled_from([*kanji_table().kanji, "々", "の", "ッ", "ー"]), max_size=7)


class TestReadings:
    def test_have_that_of_an_everyday_word_among_them_and_begin_with_those_of_a_word_of_its_own(self) -> None:
        assert [(written, kana) for written, kana in WORDS if kana not in readings(written)] == []
        assert [(written, kana) for written, kana in IRREGULAR if kana not in readings(written, 3)] == []

    def test_come_in_the_order_of_how_likely_they_are_and_are_no_more_than_asked_for(self) -> None:
        assert readings("手紙")[:2] == ("しゅし", "てがみ"), "on readings first where there are two kanji"
        assert readings("犬") == ("いぬ", "けん"), "kun readings first where there is one"
        assert readings("今日中", 1) == ("きょうちゅう",), "a word within a longer run"
        limits = {("生物", 3): 3, ("生物", 8): 8, ("上下左右", 1000): 16, ("生物", 0): 0, ("生物", -1): 0}
        assert {asked: len(readings(*asked)) for asked in limits} == limits
        assert len(readings("生物")) == 8

    def test_are_none_where_the_table_does_not_help(self) -> None:
        runs = ("", "cat", "犬cat", "々", "🐕", "犬 猫", "龘", "犬" * 17)
        assert {run: readings(run) for run in runs if readings(run)} == {}

    @given(kanji_runs, st.text(), st.integers())
    def test_are_different_kana_and_there_for_any_text(self, run: str, text: str, limit: int) -> None:
        found = readings(run, 16)
        assert len(set(found)) == len(found)
        assert all(re.fullmatch("[ぁ-ゔー]+", kana) for kana in found)
        assert len(readings(text, limit)) <= 16


class TestKanjiTable:
    def test_has_every_kanji_of_school_once(self) -> None:
        """The numbers are those of 学年別漢字配当表 (2020) and 常用漢字表 (2010)."""
        parts = [list(part) for filled, part in groupby(table_lines(), key=bool) if filled]
        counts = {part[0].removeprefix("# "): len(part) - 1 for part in parts if part[0].startswith("# ")}
        years = [counts[f"Kyōiku kanji, year {year} of elementary school"] for year in range(1, 7)]
        assert years == [80, 160, 200, 202, 193, 191]
        assert sum(years) + counts["Jōyō kanji of later years"] == 2136

    def test_says_each_thing_once_and_in_kana(self) -> None:
        entries = [line.split() for line in table_lines() if line and not line.startswith("#")]
        written = [entry[0] for entry in entries]
        assert len(set(written)) == len(written)
        for word, *spellings in entries:
            assert spellings, word
            assert len({hiragana(spelling) for spelling in spellings}) == len(spellings), word
            form = "[ァ-ヴー]+|[ぁ-ゔー]+-?" if len(word) == 1 else "[ぁ-ゔー]+"
            assert all(re.fullmatch(form, spelling) for spelling in spellings), word

    def test_keeps_kinds_of_readings_apart(self) -> None:
        table = parse_table(["# how", "", "食 ショク た-", "今日 きょう こんにち"])
        assert [(r.kana, r.kind, r.stem) for r in table.kanji["食"]] == [
            ("しょく", "on", False),
            ("た", "kun", True),
        ]
        ((word, spellings),) = table.words["今"]
        assert word == "今日"
        assert [(r.kana, r.kind) for r in spellings] == [("きょう", "word"), ("こんにち", "word")]

    def test_is_read_once_and_is_small(self) -> None:
        assert kanji_table() is kanji_table()
        tracemalloc.start()
        try:
            table = parse_table(table_lines())
            assert tracemalloc.get_traced_memory()[0] < 2_000_000
            assert table.kanji.keys() == kanji_table().kanji.keys()
        finally:
            tracemalloc.stop()
