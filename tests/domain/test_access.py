"""Who may use the bot: the order of the rules, and what each kind of list means."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain.member import (
    AccessRules,
    Maintenance,
    Refusal,
    Subject,
    Subjects,
    Visitor,
    is_shut,
    refusal,
)
from cc_bot.domain.message import ChannelKey

AIKO, OWNER = 1, 9
ROLE, CHANNEL, THREAD, GUILD = 20, 30, 31, 40
IN_GUILD = Visitor(AIKO, (THREAD, CHANNEL), GUILD, frozenset({ROLE}))
IN_DM = Visitor(AIKO, (35,))
NOBODY = Subjects()
ALL = Subjects(frozenset({AIKO}), frozenset({ROLE}), frozenset({CHANNEL}), frozenset({GUILD}))
OTHERS = Subjects(frozenset({2}), frozenset({22}), frozenset({33}), frozenset({44}))
OF_KIND: dict[Subject, str] = {"user": "users", "role": "roles", "channel": "channels", "guild": "guilds"}
KINDS = sorted(OF_KIND)

ids = st.frozensets(st.integers(1, 4), max_size=3)
subjects = st.builds(Subjects, ids, ids, ids, ids)
comers = st.builds(
    Visitor, st.integers(1, 4), st.lists(st.integers(1, 4), max_size=2).map(tuple), st.integers(1, 4), ids
)


def only(subjects: Subjects, kind: Subject) -> Subjects:
    """What a list names of one kind."""
    name = OF_KIND[kind]
    return replace(NOBODY, **{name: getattr(subjects, name)})


def asked(
    comer: Visitor, *, allow: Subjects = NOBODY, deny: Subjects = NOBODY, closed: bool = False
) -> Refusal | None:
    maintenance = Maintenance("すぐ戻ります") if closed else None
    return refusal(comer, AccessRules(allow, deny), owners=frozenset({OWNER}), maintenance=maintenance)


def test_anybody_may_without_rules_and_only_an_owner_may_during_maintenance() -> None:
    assert (asked(IN_GUILD), asked(IN_DM)) == (None, None)
    assert asked(IN_GUILD, closed=True) == Refusal("maintenance", note="すぐ戻ります")
    owner = replace(IN_GUILD, user_id=OWNER)
    everyone = replace(ALL, users=frozenset({OWNER}))
    assert asked(owner, deny=everyone, allow=OTHERS, closed=True) is None


class TestDenial:
    @pytest.mark.parametrize("kind", KINDS)
    def test_of_any_kind_is_enough_and_no_allowance_makes_up_for_it(self, kind: Subject) -> None:
        assert asked(IN_GUILD, deny=only(ALL, kind), allow=ALL) == Refusal("denied", kind)
        assert asked(IN_GUILD, deny=only(OTHERS, kind)) is None

    def test_of_a_role_counts_while_nobody_can_tell_which_roles_somebody_has(self) -> None:
        assert asked(replace(IN_GUILD, role_ids=None), deny=only(OTHERS, "role")) == Refusal("denied", "role")


class TestAllowance:
    def test_of_a_role_is_nobodys_while_nobody_can_tell(self) -> None:
        comer = replace(IN_GUILD, role_ids=None)
        assert asked(comer, allow=only(ALL, "role")) == Refusal("not_listed", "role")


class TestRules:
    @given(comers, subjects, subjects)
    def test_let_in_exactly_who_is_on_every_list_of_allowances_and_on_none_of_denials(
        self, comer: Visitor, allow: Subjects, deny: Subjects
    ) -> None:
        own = Subjects(
            frozenset({comer.user_id}),
            comer.role_ids or frozenset(),
            frozenset(comer.channel_ids),
            frozenset({comer.guild_id or 0}),
        )
        names = OF_KIND.values()
        denied = any(getattr(own, name) & getattr(deny, name) for name in names)
        listed = all(not getattr(allow, n) or getattr(own, n) & getattr(allow, n) for n in names)
        assert (asked(comer, allow=allow, deny=deny) is None) == (listed and not denied)


class TestAShutPlace:
    @pytest.mark.parametrize("kind", ["channel", "guild"])
    def test_is_one_that_is_denied_or_left_out(self, kind: Subject) -> None:
        key, mine, others = ChannelKey(CHANNEL, THREAD), only(ALL, kind), only(OTHERS, kind)
        assert is_shut(key, GUILD, AccessRules(deny=mine))
        assert is_shut(key, GUILD, AccessRules(allow=others))
        assert is_shut(key, GUILD, AccessRules(allow=mine, deny=mine))
        assert not is_shut(key, GUILD, AccessRules(allow=mine, deny=others))

    def test_is_none_because_of_who_is_there(self) -> None:
        people = replace(ALL, channels=frozenset(), guilds=frozenset())
        assert not is_shut(ChannelKey(CHANNEL), GUILD, AccessRules(deny=people))
