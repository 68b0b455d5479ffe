import re
from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain.text import hiragana
from cc_bot.features.memory.search.readings import find_readings, load_kanji_table, read_table_lines


def _words(text: str) -> list[tuple[str, str]]:
    fields = text.split()
    return list(zip(fields[::2], fields[1::2], strict=True))


COMPOUNDS = _words("""
    学校 がっこう 発表 はっぴょう 石鹸 せっけん 薄荷 はっか 日記 にっき 切符 きっぷ 心配 しんぱい 散歩 さんぽ
    手紙 てがみ 本棚 ほんだな 虫歯 むしば 長靴 ながぐつ 口紅 くちべに 焼肉 やきにく 大雨 おおあめ
    時々 ときどき 人々 ひとびと 刺繍 ししゅう 洗濯機 せんたくき 冷蔵庫 れいぞうこ 小学校 しょうがっこう
    卒業式 そつぎょうしき 請求書 せいきゅうしょ 免許証 めんきょしょう 健康診断 けんこうしんだん
    予防接種 よぼうせっしゅ 処方箋 しょほうせん 牛肉 ぎゅうにく 鶏肉 とりにく 豆腐 とうふ 納豆 なっとう
    誕生日 たんじょうび 結婚記念日 けっこんきねんび 電話番号 でんわばんごう 腕時計 うでどけい
    卓球 たっきゅう 受付 うけつけ 買物 かいもの 割引 わりびき 年賀状 ねんがじょう
""")
ALONE = _words(
    "傘 かさ 鍵 かぎ 卵 たまご 酢 す 苺 いちご 鮭 さけ 檜 ひのき 甥 おい 姪 めい 孫 まご 嬉 うれ 麦 むぎ"
)
WITH_OKURIGANA = _words("""
    食べ物 たべもの 編み物 あみもの 折り紙 おりがみ 打ち合わせ うちあわせ 目覚まし時計 めざましどけい
    お年玉 おとしだま お土産 おみやげ 母の日 ははのひ 消しゴム けしごむ 引っ越し ひっこし 手伝い てつだい
""")
IRREGULAR = _words("""
    今日 きょう 明日 あした 明日 あす 昨日 きのう 大人 おとな 一人 ひとり 二十歳 はたち 一日 ついたち
    眼鏡 めがね 上手 じょうず 部屋 へや 果物 くだもの 八百屋 やおや 田舎 いなか 紅葉 もみじ 紅葉 こうよう
    息子 むすこ 布団 ふとん 珈琲 こーひー 林檎 りんご 海老 えび 蕎麦 そば 従兄弟 いとこ 風邪 かぜ 相撲 すもう
""")
NAMES = _words("""
    佐藤 さとう 鈴木 すずき 高橋 たかはし 渡辺 わたなべ 佐々木 ささき 長谷川 はせがわ 服部 はっとり
    智子 ともこ 翔太 しょうた 大輔 だいすけ 東京 とうきょう 神戸 こうべ 名古屋 なごや 日本 にっぽん
""")
WORDS = [*COMPOUNDS, *ALONE, *WITH_OKURIGANA, *IRREGULAR, *NAMES]

kanji_runs = st.text(
    st.sampled_from([*(key for key in load_kanji_table() if len(key) == 1), "々", "の", "ッ", "ー"]),
    max_size=7,
)


class TestReadings:
    def test_have_that_of_an_everyday_word_among_them_and_begin_with_those_of_a_word_of_its_own(self) -> None:
        assert [(written, kana) for written, kana in WORDS if kana not in find_readings(written)] == []
        assert [(written, kana) for written, kana in IRREGULAR if kana not in find_readings(written, 3)] == []

    def test_come_in_the_order_of_how_likely_they_are_and_are_no_more_than_asked_for(self) -> None:
        assert find_readings("手紙")[:2] == ("しゅし", "てがみ"), "on readings first for two kanji"
        assert find_readings("犬") == ("いぬ", "けん"), "kun readings first where there is one"
        assert find_readings("今日中", 1) == ("きょうちゅう",), "a word within a longer run"
        limits = {("生物", 3): 3, ("生物", 8): 8, ("上下左右", 1000): 16, ("生物", 0): 0, ("生物", -1): 0}
        assert {asked: len(find_readings(*asked)) for asked in limits} == limits
        assert len(find_readings("生物")) == 8

    @given(kanji_runs, st.text(), st.integers())
    def test_are_different_kana_and_there_for_any_text(self, run: str, text: str, limit: int) -> None:
        found = find_readings(run, 16)
        assert len(set(found)) == len(found)
        assert all(re.fullmatch("[ぁ-ゔー]+", kana) for kana in found)
        assert len(find_readings(text, limit)) <= 16


class TestKanjiTable:
    def test_has_every_kanji_of_school_once(self) -> None:
        """The numbers are those of 学年別漢字配当表 (2020) and 常用漢字表 (2010)."""
        parts = [list(part) for filled, part in groupby(read_table_lines(), key=bool) if filled]
        counts = {part[0].removeprefix("# "): len(part) - 1 for part in parts if part[0].startswith("# ")}
        years = [counts[f"Kyōiku kanji, year {year} of elementary school"] for year in range(1, 7)]
        assert years == [80, 160, 200, 202, 193, 191]
        assert sum(years) + counts["Jōyō kanji of later years"] == 2136

    def test_says_each_thing_once_and_in_kana(self) -> None:
        entries = [line.split() for line in read_table_lines() if line and not line.startswith("#")]
        written = [entry[0] for entry in entries]
        assert len(set(written)) == len(written)
        for word, *spellings in entries:
            assert spellings, word
            assert len({hiragana(spelling) for spelling in spellings}) == len(spellings), word
            form = "[ァ-ヴー]+|[ぁ-ゔー]+-?" if len(word) == 1 else "[ぁ-ゔー]+"
            assert all(re.fullmatch(form, spelling) for spelling in spellings), word
