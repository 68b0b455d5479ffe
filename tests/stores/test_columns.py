"""Columns: times in them are exact and in order, and a value is read from a row as it was written."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Final, Literal, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.stores.columns import ISO, MS, Columns, Kind, Parameters, from_ms, to_ms, to_text

TIMES = st.datetimes(datetime(1970, 1, 1), datetime(2198, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - hypothesis wants its bounds naive


class TestTimes:
    @given(one=TIMES, other=TIMES)
    def test_are_exact_and_in_order_however_they_are_written(self, one: datetime, other: datetime) -> None:
        assert timedelta(0) <= one - from_ms(to_ms(one)) < timedelta(milliseconds=1)
        assert to_ms(from_ms(to_ms(one))) == to_ms(one)
        assert datetime.fromisoformat(to_text(one)) == one
        assert (to_text(one) < to_text(other)) == (one < other)

    def test_are_utc_wherever_the_moment_came_from(self) -> None:
        tokyo = datetime(2026, 11, 22, 9, tzinfo=timezone(timedelta(hours=9)))
        assert to_text(tokyo) == "2026-11-22T00:00:00.000000+00:00"


class Place(NamedTuple):
    channel_id: int
    thread_id: int | None


@dataclass(frozen=True)
class Owner:
    user_id: int
    agent: Literal["a", "b"]


@dataclass(frozen=True)
class Note:
    id: int
    owner: Owner
    text: str
    _: KW_ONLY
    kept_at: datetime
    ends_at: datetime | None = None
    done: bool = False
    tags: tuple[str, ...] = ()
    beside: Mapping[str, str] | None = None
    shown: bool = True


NOTE: Final = Columns(Note, moments=MS, without=("shown",), text=Kind(column="content"))
MOMENT: Final = datetime(2026, 11, 22, tzinfo=UTC)
SHORT: Final = Note(1, Owner(2, "b"), "猫", kept_at=MOMENT)
NOTES: Final = st.builds(
    Note,
    st.integers(),
    st.builds(Owner, st.integers(), st.sampled_from(["a", "b"])),
    st.text(),
    kept_at=st.integers(0, 7_200_000_000_000).map(from_ms),
    ends_at=st.none() | st.integers(0, 7_200_000_000_000).map(from_ms),
    done=st.booleans(),
    tags=st.lists(st.text()).map(tuple),
    beside=st.none() | st.dictionaries(st.text(), st.text()),
)


class TestColumns:
    def test_are_the_fields_of_the_value_and_of_what_is_in_it(self) -> None:
        assert NOTE.select == "id, user_id, agent, content, kept_at, ends_at, done, tags, beside"
        assert NOTE.marks == "$1, $2, $3, $4, $5, $6, $7, $8, $9"
        assert NOTE.of("n").startswith("n.id, n.user_id, ")
        assert NOTE.nullable == {"ends_at", "beside"}
        assert NOTE.forms["kept_at"] == "ms"
        with pytest.raises(TypeError, match=r"Note\.kept_at"):
            Columns(Note)

    @given(note=NOTES)
    def test_are_read_back_as_they_were_written(self, note: Note) -> None:
        assert NOTE.read([*NOTE.write(note).values()]) == note

    def test_hold_what_a_database_can_hold_also_of_some_fields_alone(self) -> None:
        row = [*NOTE.write(replace(SHORT, done=True, tags=("ペット",))).values()]
        assert row == [1, 2, "b", "猫", to_ms(MOMENT), None, 1, '["ペット"]', None]
        assert NOTE.write_some({"done": True, "text": "犬"}) == {"content": "犬", "done": 1}
        assert NOTE.by_name(row)["content"] == "猫"
        assert NOTE.first([]) is None
        assert NOTE.first([row]) == NOTE.read(row)
        with pytest.raises(TypeError):
            NOTE.read([*row, 1])

    def test_of_another_value_are_described_there(self) -> None:
        class Found(NamedTuple):
            note: Note
            found_at: datetime
            place: Place

        found = Found(SHORT, MOMENT, Place(3, None))
        columns = Columns(Found, moments=ISO, note=NOTE, place=Columns(Place))
        assert columns.select == f"{NOTE.select}, found_at, channel_id, thread_id"
        assert columns.read([*columns.write(found).values()]) == found


class TestParameters:
    def test_stand_for_columns_in_order(self) -> None:
        given = Parameters(("content", "tags"), first=3)
        assert (given.names, given.marks) == ("content, tags", "$3, $4")
        assert (given.assignments, given["tags"]) == ("content = $3, tags = $4", "$4")
