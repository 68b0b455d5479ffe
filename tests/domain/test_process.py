"""Processes that are one bot: what each holds, and what the operator is told of them together."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from cc_bot.domain.process import LivingProcess, Process, find_differing, find_free_shards, write_shards

NOW = datetime(2026, 11, 27, tzinfo=UTC)


def living(*shards: tuple[int, ...] | None, count: int = 16, **told: str) -> list[LivingProcess]:
    return [
        LivingProcess(Process(f"p{number}", "a.example", "1.0", each, count, **told), NOW, NOW, lapsed=False)
        for number, each in enumerate(shards)
    ]


def test_shards_that_nobody_holds_are_found_and_told_in_ranges() -> None:
    assert find_free_shards(living((0, 1), (3,), count=4)) == {2}
    assert find_free_shards(living((0, 1), (2, 3), count=4)) == frozenset()
    assert find_free_shards(living(None, count=0)) == find_free_shards([]) == frozenset()
    assert [write_shards(each) for each in ((), (4,), (0, 1, 2, 3), (0, 2, 3, 9))] == [
        *("", "4", "0-3", "0, 2-3, 9")
    ]


def test_one_that_is_not_connected_for_a_while_is_told_from_one_that_connects() -> None:
    [connecting, terminal] = living((0,), ())
    for each, seconds, expected in ((connecting, 50, False), (connecting, 70, True), (terminal, 70, False)):
        assert replace(each, renewed_at=NOW + timedelta(seconds=seconds)).is_unconnected is expected
    lost = replace(connecting, renewed_at=NOW + timedelta(hours=1))
    assert not replace(lost, connected_at=NOW + timedelta(minutes=59, seconds=30)).is_unconnected
    assert replace(lost, connected_at=NOW + timedelta(minutes=58)).is_unconnected


def test_files_that_are_not_the_same_everywhere_are_named() -> None:
    same = living((0,), (1,), agents_hash="a", policy_hash="b", mcp_hash="c")
    assert find_differing(same) == ()
    for agents, policy, mcp, file in (
        *(("x", "b", "c", "agents.toml"), ("a", "x", "c", "policy.toml"), ("a", "b", "x", "mcp.json")),
    ):
        other = living((2,), agents_hash=agents, policy_hash=policy, mcp_hash=mcp)
        assert find_differing([*same, *other]) == (file,)
