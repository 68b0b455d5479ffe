"""What is declared in both languages, and had in one."""

import pytest

from cc_bot.domain.locale import Locale
from cc_bot.texts.area import Area, Both, Sentence, by_key


class Greetings(Area):
    hello = Sentence(ja="こんにちは。</help> をどうぞ", en="Hello. See </help>")
    days = Both(ja=("月", "火"), en=("Mon", "Tue"))
    places = by_key({"dm": Sentence(ja="ここ </ask>", en="here </ask>")})

    def twice(self) -> str:
        return self.hello * 2


class TestArea:
    def test_has_everything_in_its_language_and_names_commands_as_it_is_told_to(self) -> None:
        japanese, english = Greetings(Locale.JA), Greetings(Locale.EN)
        assert (japanese.hello, japanese.days) == ("こんにちは。</help> をどうぞ", ("月", "火"))
        assert (english.twice(), english.places["dm"]) == ("Hello. See </help>" * 2, "here </ask>")
        named = Greetings(Locale.EN, lambda name: f"!{name}")
        assert (named.hello, named.places["dm"]) == ("Hello. See !help", "here !ask")

    def test_is_equal_by_what_it_says_and_reworded_only_in_another_one(self) -> None:
        area = Greetings(Locale.EN)
        assert area == Greetings(Locale.EN) != Greetings(Locale.JA)
        assert hash(area) == hash(Greetings(Locale.EN))
        assert (area.reword(hello="Hi").hello, area.hello) == ("Hi", "Hello. See </help>")
        with pytest.raises(TypeError):
            area.reword(goodbye="Bye")
        with pytest.raises(AttributeError):
            setattr(area, "hello", "Hi")  # noqa: B010 - as an assignment it is an error of types
        with pytest.raises(AttributeError):
            del area.hello
