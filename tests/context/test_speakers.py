from hypothesis import given
from hypothesis import strategies as st

from cc_bot.chat.context.tokens import MAX_REFERENCE_CHARACTERS, quote_references
from cc_bot.domain.message import Message, Reference

THEIRS = Reference("reply", "明日は\n十時です", "太郎", 0)


class TestAQuotation:
    def test_names_who_said_it_and_marks_every_line(self) -> None:
        said, own = "> 明日は\n> 十時です", "はい"
        assert quote_references((THEIRS,)) == f"[In reply to a message of 太郎:]\n{said}"
        assert (
            quote_references((Reference("menu", THEIRS.content, "太郎"),))
            == f"[About a message of 太郎:]\n{said}"
        )
        assert quote_references((Reference("reply", own),)) == f"[In reply to your own answer:]\n> {own}"
        assert quote_references((Reference("menu", own),)) == f"[About your own answer:]\n> {own}"

    def test_tells_what_is_not_shown_in_the_same_words_whatever_is_known_of_it(self) -> None:
        known = Reference("link", "秘密", "太郎", 5, is_visible=False)
        assert quote_references((known,)) == quote_references((Reference("link", is_visible=False),))
        assert "秘密" not in quote_references((known,))

    def test_has_all_of_a_conversation_and_no_more_of_a_message_than_discord_takes(self) -> None:
        lines = [f"太郎: {number} {'あ' * 100}" for number in range(100)]
        heading, *told = quote_references((Reference("since", "\n".join(lines), "太郎"),)).splitlines()
        assert heading == "[The conversation from a message of 太郎 on:]"
        assert told == [f"> {line}" for line in lines]
        assert (
            len(quote_references((Reference("reply", "あ" * 10_000, "太郎"),)))
            < MAX_REFERENCE_CHARACTERS + 100
        )

    @given(st.text(), st.text(max_size=40))
    def test_has_no_line_that_could_be_the_askers(self, said: str, name: str) -> None:
        heading, *lines = quote_references((Reference("reply", said, f"a{name}"),)).splitlines()
        assert heading.startswith("[In reply to a message of ")
        assert heading.endswith(":]")
        assert all(line.startswith(">") for line in lines)


class TestAQuestion:
    def test_is_tainted_by_words_of_others(self) -> None:
        own = Reference("reply", "はい", tainted=False)
        hidden = Reference("reply", is_visible=False)
        assert Message("user", "何時？", references=(own, THEIRS)).is_tainting
        assert not Message("user", "何時？", references=(own, hidden)).is_tainting
