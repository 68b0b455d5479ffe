from datetime import UTC, datetime
from typing import Any

from cc_bot.db.process import ActiveProcess, Process, find_differing, find_free_shards, write_shards

NOW = datetime(2026, 11, 27, tzinfo=UTC)


def living(*shards: tuple[int, ...] | None, count: int = 16, **told: Any) -> list[ActiveProcess]:
    return [
        ActiveProcess(Process(f"p{number}", "a.example", "1.0", each, count, **told), NOW, NOW, lapsed=False)
        for number, each in enumerate(shards)
    ]


def test_shards_that_nobody_holds_are_found_and_told_in_ranges() -> None:
    assert find_free_shards(living((0, 1), (3,), count=4)) == {2}
    assert find_free_shards(living((0, 1), (2, 3), count=4)) == frozenset()
    assert find_free_shards(living(None, count=0)) == find_free_shards([]) == frozenset()
    assert [write_shards(each) for each in ((), (4,), (0, 1, 2, 3), (0, 2, 3, 9))] == [
        *("", "4", "0-3", "0, 2-3, 9")
    ]


def test_what_processes_do_not_have_alike_is_found() -> None:
    [one, other] = (living((0,), file_hashes={"agents.toml": each})[0] for each in "ab")
    assert [find_differing([one, each]) for each in (one, other)] == [(), ("agents.toml",)]
