"""What a message's menu hands over: for whom, and for how long."""

import hikari
import pytest

from cc_bot.discord.targets import KEPT_S, REMEMBERED, Target, Targets, is_said, is_same
from tests.discord.hikari_messages import AIKO, BEN, message


def target(text: str = "十時です", message_id: int = 400) -> Target:
    return Target(message(text, id=str(message_id)), 1, may_be_fetched=True)


class TestATarget:
    def test_is_whoevers_menu_handed_it_over(self) -> None:
        targets, kept = Targets(), target()
        targets.keep(AIKO, kept)
        assert targets.get(AIKO, 400) is kept
        assert targets.get(BEN, 400) is None
        assert targets.get(AIKO, 401) is None

    def test_is_kept_for_an_hour(self) -> None:
        moments = iter([0.0, KEPT_S - 1, KEPT_S, KEPT_S - 1])
        targets = Targets(lambda: next(moments))
        targets.keep(AIKO, target())
        assert targets.get(AIKO, 400) is not None
        assert targets.get(AIKO, 400) is None
        assert targets.get(AIKO, 400) is None

    def test_is_one_of_so_many(self) -> None:
        targets = Targets()
        for number in range(REMEMBERED + 1):
            targets.keep(AIKO, target(message_id=number + 1))
        assert targets.get(AIKO, 1) is None
        assert targets.get(AIKO, 2) is not None

    def test_is_the_same_until_its_author_changes_it(self) -> None:
        edited = message("十一時です", edited_timestamp="2026-11-22T05:01:00+00:00")
        assert is_same(message(""), target())
        assert not is_same(edited, target())


@pytest.mark.parametrize(
    ("kind", "flags", "said"),
    [
        (hikari.MessageType.DEFAULT, 0, True),
        (hikari.MessageType.REPLY, 0, True),
        (hikari.MessageType.CHAT_INPUT, 0, True),
        (hikari.MessageType.CONTEXT_MENU_COMMAND, 0, True),
        (hikari.MessageType.CHAT_INPUT, hikari.MessageFlag.LOADING, False),
        (hikari.MessageType.CHANNEL_PINNED_MESSAGE, 0, False),
        (hikari.MessageType.THREAD_CREATED, 0, False),
    ],
)
def test_only_what_somebody_says_is_said(kind: int, flags: int, said: bool) -> None:
    assert is_said(message("はい", type=int(kind), flags=int(flags))) is said
