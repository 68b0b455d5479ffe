from hypothesis import given
from hypothesis import strategies as st

from cc_bot.features.memory.secrets import looks_secret
from tests.domain.phrases import phrases, table

SECRETS = phrases(table("secrets"))
FULL_WIDTH = phrases("カード番号は ４１１１ー１１１１ー１１１１ー１１１１ | ｐａｓｓｗｏｒｄ：ｈｕｎｔｅｒ２")
HARMLESS = phrases(table("no_secrets"))


class TestSecrets:
    def test_are_recognised_also_within_a_longer_text(self) -> None:
        within = [f"昨日は晴れでした。\n{text}\n明日は雨です。" for text in SECRETS]
        texts = [*SECRETS, *within, *FULL_WIDTH, "4111\u200b 1111 1111 1111"]
        assert [text for text in texts if not looks_secret(text)] == []

    def test_are_not_seen_in_ordinary_notes(self) -> None:
        assert [text for text in HARMLESS if looks_secret(text)] == []

    def test_are_recognised_across_any_white_space(self) -> None:
        """However much of it there is, a pattern must not try each part of it in each of its places."""
        for blank in (" ", "\t", "\u3000"):
            many = blank * 100_000
            assert looks_secret(f"パスワード{many}は{many}hunter2")
            assert not looks_secret(f"パスワード{many}")
            assert not looks_secret(f"my seed phrase is{many}a{many}")

    @given(st.integers(10**14, 10**15 - 1))
    def test_of_cards_and_my_numbers_have_their_check_digit(self, body: int) -> None:
        for name, digits in (("カード番号", body), ("マイナンバー", 10**10 + body % (9 * 10**10))):
            assert sum(looks_secret(f"{name}は{digits}{last}") for last in range(10)) == 1
