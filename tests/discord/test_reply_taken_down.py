"""Deletions by the bot itself."""

from cc_bot.discord.delivery.reply import REMEMBERED, TakenDown


class TestDeletion:
    def test_by_the_bot_is_known_once(self) -> None:
        taken_down = TakenDown()
        taken_down.expect(1)
        assert taken_down.was_expected(1)
        assert not taken_down.was_expected(1)

    def test_by_others_is_news(self) -> None:
        assert not TakenDown().was_expected(1)

    def test_that_discord_never_told_of_is_forgotten_in_the_end(self) -> None:
        taken_down = TakenDown()
        for message_id in range(REMEMBERED + 1):
            taken_down.expect(message_id)
        assert not taken_down.was_expected(0)
        assert taken_down.was_expected(1)
