"""What holds for a history after any sequence of turns."""

from dataclasses import dataclass
from typing import Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cc_bot.domain import Message
from cc_bot.domain.message import Visibility
from cc_bot.domain.session import SessionKey
from tests.stores.backends import OpenStores, contents, turn

pytestmark = pytest.mark.slow

VISIBILITIES: tuple[Visibility, ...] = ("public", "private")
Kind = Literal["turn", "answer", "regenerate", "clear"]


@dataclass(frozen=True)
class Step:
    kind: Kind
    visibility: Visibility


STEPS = st.lists(
    st.builds(
        Step,
        kind=st.sampled_from(["turn", "turn", "turn", "answer", "regenerate", "clear"]),
        visibility=st.sampled_from(["public", "private"]),
    ),
    max_size=15,
)


def said_in(step: Step, number: int) -> list[Message]:
    """What a step adds to the archive; every text is another."""
    question, answer = turn(f"質問{number}", visibility=step.visibility)
    return [question, answer] if step.kind == "turn" else [answer]


def expected(archive: list[Message], limit: int, visibility: Visibility) -> list[str]:
    """The history told from all that was said since the last clear, in the plainest way."""
    seen = [message for message in archive if visibility in ("private", message.visibility)]
    seen = seen[-limit:] if limit else seen
    while seen and seen[0].role == "assistant":
        seen = seen[1:]
    return contents(seen)


class TestHistory:
    @settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(steps=STEPS, limit=st.integers(0, 7), user=st.integers(1, 2**62))
    async def test_after_any_turns_is_the_bounded_tail_that_may_be_seen(
        self, open_again: OpenStores, steps: list[Step], limit: int, user: int
    ) -> None:
        key = SessionKey(user, channel_id=1)
        archive: list[Message] = []
        async with open_again(history_limit=limit) as stores:
            after = await stores.sessions.clear(key)
            for number, step in enumerate(steps):
                if step.kind == "clear":
                    archive, after = [], await stores.sessions.clear(key)
                else:
                    before = await stores.sessions.open(key, visibility=step.visibility)
                    newest = before.history[-1] if before.history and step.kind == "regenerate" else None
                    if newest is not None and newest.role == "assistant":
                        archive = [message for message in archive if message.content != newest.content]
                    said = said_in(step, number)
                    after = await stores.sessions.commit_turn(
                        before, said, replaces=newest.id if newest else None
                    )
                    archive += said
                for visibility in VISIBILITIES:
                    seen = (await stores.sessions.open(key, visibility=visibility)).history
                    assert contents(seen) == expected(archive, limit, visibility)
                    assert limit == 0 or len(seen) <= limit
                    assert not seen or seen[0].role == "user"
                    assert visibility == "private" or {message.visibility for message in seen} <= {"public"}
                assert await stores.sessions.open(key, visibility=step.visibility) == after
