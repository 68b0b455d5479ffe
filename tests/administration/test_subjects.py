"""Users, roles, channels and servers as owners write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.administration import Mentionable, parse_mention
from cc_bot.domain import Locale
from cc_bot.domain.member import SUBJECTS, Subject
from cc_bot.texts import texts

HERE = 40
ids = st.integers(1, 2**63 - 1)


class TestASentence:
    @pytest.mark.parametrize(
        ("found", "allowed", "denied"),
        [
            (
                Mentionable("user", 1),
                "<@1> さんを、cc-bot を使える人に加えました。",
                "<@1> さんは、cc-bot を使えなくなりました。",
            ),
            (Mentionable("role", 2), "<@&2> を、cc-bot を使えるロールに", "<@&2> の人は、cc-bot を使えなく"),
            (
                Mentionable("channel", 3),
                "<#3> を、cc-bot を使えるチャンネルに",
                "<#3> では、cc-bot を使えなく",
            ),
            (
                Mentionable("guild", 4),
                "サーバー 4 を、cc-bot を使えるサーバーに",
                "サーバー 4 では、cc-bot を使えなく",
            ),
        ],
    )
    def test_says_who_may_or_may_not_as_people_say_it(
        self, found: Mentionable, allowed: str, denied: str
    ) -> None:
        words = texts(Locale.JA)
        subject = found.phrase(words)
        assert allowed in words.admin.access_allowed[found.subject].format(subject=subject)
        assert denied in words.admin.access_denied[found.subject].format(subject=subject)


class TestNames:
    @pytest.mark.parametrize(
        ("text", "kind", "meant"),
        [
            ("<@1>", None, Mentionable("user", 1)),
            ("<@!1>", None, Mentionable("user", 1)),
            (" <@&2> ", None, Mentionable("role", 2)),
            ("<#3>", "channel", Mentionable("channel", 3)),
            ("4", "guild", Mentionable("guild", 4)),
            ("", "guild", Mentionable("guild", HERE)),
        ],
    )
    def test_are_mentions_or_ids_with_their_kind(
        self, text: str, kind: Subject | None, meant: Mentionable
    ) -> None:
        assert parse_mention(text, kind, HERE) == meant

    @pytest.mark.parametrize(
        ("text", "kind"),
        [
            ("5", None),
            ("", None),
            ("", "user"),
            ("<@1>", "role"),
            ("あいこ", "user"),
            ("<@0>", None),
            ("0", "user"),
            ("-1", "user"),
            (str(2**63), "user"),
            (f"<#{2**63}>", None),
            ("<@1> <@2>", None),
        ],
    )
    def test_that_say_nothing_or_two_things_are_none(self, text: str, kind: Subject | None) -> None:
        assert parse_mention(text, kind, HERE) is None

    def test_of_this_server_need_one(self) -> None:
        assert parse_mention("", "guild", None) is None

    @given(st.sampled_from(SUBJECTS[:3]), ids)
    def test_are_read_as_they_are_shown(self, subject: Subject, number: int) -> None:
        shown = Mentionable(subject, number).mention(texts(Locale.JA))
        assert parse_mention(shown, None, None) == Mentionable(subject, number)

    @given(st.text(max_size=30), st.sampled_from((None, *SUBJECTS)))
    def test_never_name_what_no_database_holds(self, text: str, kind: Subject | None) -> None:
        found = parse_mention(text, kind, HERE)
        assert found is None or 0 < found.id < 2**63
