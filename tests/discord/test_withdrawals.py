"""Answers on their way that nobody wants any more."""

import pytest

from cc_bot.assistant import Stop
from cc_bot.discord.messages.withdrawals import Withdrawals
from cc_bot.domain.message import ChannelKey

CHANNEL, THREAD = ChannelKey(700), ChannelKey(700, 750)


class TestAnswer:
    def test_is_withdrawn_with_any_of_its_messages(self) -> None:
        withdrawals, stop = Withdrawals(), Stop()
        with withdrawals.watch([10, 11], {20, 21}.__contains__) as answer:
            answer.begin(stop)
            withdrawals.withdraw([10, 30])
            assert not answer.withdrawn
            withdrawals.withdraw([21])
        assert answer.withdrawn
        assert stop.requested

    @pytest.mark.parametrize(
        ("deleted", "withdrawn"),
        [(CHANNEL, True), (THREAD, True), (ChannelKey(700, 760), False), (ChannelKey(701), False)],
    )
    def test_in_a_thread_is_withdrawn_with_its_place(self, deleted: ChannelKey, withdrawn: bool) -> None:
        withdrawals = Withdrawals()
        with withdrawals.watch([10], {20}.__contains__, THREAD) as answer:
            withdrawals.withdraw_place(deleted)
        assert answer.withdrawn is withdrawn

    def test_in_a_channel_outlives_its_threads(self) -> None:
        withdrawals = Withdrawals()
        with withdrawals.watch([10], {20}.__contains__, CHANNEL) as answer:
            withdrawals.withdraw_place(THREAD)
        assert not answer.withdrawn

    def test_of_a_session_is_its_users_own(self) -> None:
        withdrawals = Withdrawals()
        with withdrawals.watch([10], {20}.__contains__) as answer:
            withdrawals.withdraw_place(CHANNEL)
        assert not answer.withdrawn
