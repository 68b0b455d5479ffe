import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from cc_bot.terminal.markdown import one_line, printable


class TestPrintable:
    @given(st.text(st.characters()))
    def test_no_control_character_gets_through(self, text: str) -> None:
        left = printable(text)
        assert not [c for c in left if unicodedata.category(c) in {"Cc", "Cs"} and c not in "\t\n"]
        left.encode()

    def test_an_escape_sequence_is_shown_as_harmless_text(self) -> None:
        assert printable("\x1b[2J消えた\x9b31m\r\n") == "[2J消えた31m\n"

    def test_what_turns_writing_around_is_left_out(self) -> None:
        assert printable("金額は\u202e000,1\u202c円、\u2066次\u2069の行") == "金額は000,1円、次の行"
        assert one_line("\u202e猫") == "猫"
        assert printable("שלום, سلام") == "שלום, سلام"


class TestOneLine:
    @given(st.text(), st.integers(1, 50))
    def test_is_one_line_of_limited_length(self, text: str, limit: int) -> None:
        line = one_line(text, limit)
        assert len(line) <= limit
        assert "\n" not in line
