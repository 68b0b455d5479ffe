"""Who comes next: order, fairness, and that no place is ever lost."""

from collections.abc import Hashable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from cc_bot.assistant.queue import FairLine, Ticket

PARTIES = ["東京", "Osaka", "京都"]


def waits(line: FairLine, user: Hashable, party: str = "東京") -> Ticket:
    return line.join([user], party, user)


class TestALine:
    def test_has_one_turn_at_a_time(self) -> None:
        line = FairLine(5)
        first, second = waits(line, "ann"), waits(line, "ann")
        assert line.admit() == [first]
        assert line.is_held_up(second)
        line.leave(first)
        assert line.admit() == [second]

    def test_keeps_its_order(self) -> None:
        line = FairLine(1)
        tickets = [waits(line, "ann") for _ in range(4)]
        served = []
        for _ in tickets:
            [next_] = line.admit()
            served.append(next_)
            line.leave(next_)
        assert served == tickets

    def test_whoever_leaves_it_lets_the_others_move_up(self) -> None:
        line = FairLine(1)
        running, gone, last = (waits(line, name) for name in ("ann", "ben", "cleo"))
        line.admit()
        assert line.ahead(last) == 1
        line.leave(gone)
        assert line.ahead(last) == 0
        line.leave(running)
        assert line.admit() == [last]

    def test_a_turn_of_two_lines_waits_for_both_and_holds_up_nobody_in_the_second(self) -> None:
        line = FairLine(5)
        busy = line.join(["#a", "ben"], "東京", "ben")
        line.admit()
        line.join(["#a", "ann"], "東京", "ann")
        elsewhere = line.join(["#b", "ann"], "東京", "ann")
        assert line.admit() == [elsewhere]
        line.leave(busy)
        assert line.admit() == []
        line.leave(elsewhere)
        assert len(line.admit()) == 1


class TestPlaces:
    def test_a_burst_of_one_server_goes_behind_everybody_else(self) -> None:
        line = FairLine(1)
        [*burst] = [waits(line, number, "東京") for number in range(5)]
        line.admit()
        others = [waits(line, 100, "Osaka"), waits(line, 200, "京都")]
        assert [line.ahead(ticket) for ticket in others] == [0, 1]
        assert [line.ahead(ticket) for ticket in burst[1:]] == [2, 3, 4, 5]

    def test_within_a_server_the_members_take_turns(self) -> None:
        line = FairLine(1)
        for number in range(4):
            line.join([f"#{number}", number], "東京", "ann")
        [first] = line.admit()
        ben = line.join(["#9", 9], "東京", "ben")
        line.leave(first)
        assert line.admit() == [ben]

    def test_are_given_as_they_become_free(self) -> None:
        line = FairLine(2)
        first, second, third = (waits(line, number) for number in range(3))
        assert line.admit() == [first, second]
        assert (line.running, line.waiting) == (2, 1)
        line.leave(second)
        assert line.admit() == [third]

    def test_go_to_the_first_who_came_of_those_whose_last_turn_is_forgotten_or_never_was(self) -> None:
        line = FairLine(1, remembered=4)
        running = waits(line, "ann", "東京")
        line.admit()
        for user, party in (("ben", "Osaka"), ("cleo", "京都")):
            then = waits(line, user, party)
            line.leave(running)
            assert line.admit() == [then]
            running = then
        again, new = waits(line, "ann", "東京"), waits(line, "dan", "Nagoya")
        assert [line.ahead(again), line.ahead(new)] == [0, 1]
        line.leave(running)
        assert line.admit() == [again]

    @given(st.lists(st.tuples(st.sampled_from(PARTIES), st.integers(0, 3)), max_size=30))
    @settings(max_examples=100)
    def test_those_who_are_told_how_many_are_ahead_are_served_in_that_order(
        self, arrivals: list[tuple[str, int]]
    ) -> None:
        line = FairLine(1)
        tickets = [line.join([number], party, user) for number, (party, user) in enumerate(arrivals)]
        told = sorted(tickets, key=line.ahead)
        served = []
        while line.waiting:
            [ticket] = line.admit()
            served.append(ticket)
            line.leave(ticket)
        assert served == told


class TestRoom:
    @given(st.integers(1, 20), st.lists(st.integers(0, 30), max_size=300))
    @settings(max_examples=100)
    def test_is_bounded_and_everybodys(self, most: int, arrivals: list[int]) -> None:
        line = FairLine(1)
        waits(line, "running")
        line.admit()
        parties: set[int] = set()
        for number, party in enumerate(arrivals):
            room = line.has_room(party, most)
            if party not in parties and len(parties) < most:
                assert room
            if room:
                line.join([number], party, number)
                parties.add(party)
        assert line.waiting <= most * (1 + sum(1 / each for each in range(1, most + 1)))


class Crowd(RuleBasedStateMachine):
    """People come, are served, end and go away in any order."""

    places = 3

    def __init__(self) -> None:
        super().__init__()
        self.line = FairLine(self.places)
        self.waiting: list[Ticket] = []
        self.running: list[Ticket] = []
        self.overtaken: dict[Hashable, list[Hashable]] = {}
        """For each party that could be served all the while: those that were, meanwhile."""

    def ready(self) -> list[Ticket]:
        """By the rule, put plainly: nothing of its lines runs, and its first line has nobody before it."""
        taken = {each for ticket in self.running for each in ticket.lines}
        return [
            ticket
            for at, ticket in enumerate(self.waiting)
            if not taken & set(ticket.lines)
            and all(ticket.lines[0] != other.lines[0] for other in self.waiting[:at])
        ]

    def move_up(self) -> None:
        for ticket in self.line.admit():
            ready = self.ready()
            assert ticket in ready
            for party in {other.party for other in ready} - {ticket.party}:
                self.overtaken.setdefault(party, []).append(ticket.party)
            self.waiting.remove(ticket)
            self.running.append(ticket)
            self.look_again(served=ticket.party)
        self.look_again()

    def look_again(self, served: Hashable = None) -> None:
        could_be = {ticket.party for ticket in self.ready()} - {served}
        self.overtaken = {party: by for party, by in self.overtaken.items() if party in could_be}

    @rule(party=st.sampled_from(PARTIES), channel=st.integers(0, 3), user=st.integers(0, 3))
    def asks_in_a_channel(self, party: str, channel: int, user: int) -> None:
        self.waiting.append(self.line.join([f"{party}#{channel}", user], party, user))
        self.move_up()

    @rule(party=st.sampled_from(PARTIES), user=st.integers(10, 14))
    def asks(self, party: str, user: int) -> None:
        self.waiting.append(self.line.join([user], party, user))
        self.move_up()

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def ends(self, data: st.DataObject) -> None:
        ticket = data.draw(st.sampled_from(self.running))
        self.running.remove(ticket)
        self.line.leave(ticket)
        self.move_up()

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def gives_up(self, data: st.DataObject) -> None:
        ticket = data.draw(st.sampled_from(self.waiting))
        self.waiting.remove(ticket)
        self.line.leave(ticket)
        self.move_up()

    @invariant()
    def nobody_is_lost(self) -> None:
        assert (self.line.running, self.line.waiting) == (len(self.running), len(self.waiting))

    @invariant()
    def no_more_run_than_there_are_places_and_one_a_line(self) -> None:
        lines = [each for ticket in self.running for each in ticket.lines]
        assert len(self.running) <= self.places
        assert len(lines) == len(set(lines))

    @invariant()
    def no_place_stays_free_while_somebody_could_have_it(self) -> None:
        assert len(self.running) == self.places or not self.ready()

    @invariant()
    def no_party_overtakes_another_twice(self) -> None:
        for by in self.overtaken.values():
            assert len(by) == len(set(by))


class TestACrowd:
    @pytest.mark.slow
    def test_is_served_in_turn(self) -> None:
        bounds = settings(max_examples=60, stateful_step_count=30, deadline=None)
        run_state_machine_as_test(Crowd, settings=bounds)
