"""What a query asks for."""

from cc_bot.search import parse_query


class TestQueries:
    def test_are_parted_into_the_things_asked_for(self) -> None:
        assert len(parse_query("妹の誕生日").groups) == 2

    def test_do_not_ask_for_grammar_and_politeness(self) -> None:
        assert parse_query("誕生日を教えてください").weights == parse_query("誕生日").weights
        assert parse_query("Please tell me the birthday").weights == parse_query("birthday").weights

    def test_ask_for_grammar_when_it_is_all_there_is(self) -> None:
        assert parse_query("です").weights
        assert parse_query("the").weights

    def test_have_no_syntax(self) -> None:
        assert parse_query('"誕生日" AND (NOT -x*)').groups

    def test_weigh_another_wording_less_than_what_is_written(self) -> None:
        weights = parse_query("ペット").weights
        assert weights["ぺつ"] > weights["=ペット"] > 0

    def test_of_blanks_ask_for_nothing(self) -> None:
        blank = parse_query(" \u3000\n")
        assert (blank.folded, blank.groups) == ("", ())

    def test_without_a_word_are_looked_for_as_written_only(self) -> None:
        query = parse_query("☆!?")
        assert (query.folded, query.groups) == ("☆!?", ())

    def test_that_are_very_long_ask_for_what_stands_first(self) -> None:
        long = "誕生日はいつ？" + "株式会社" * 1000
        query = parse_query(long)
        assert len(query.folded) == len(long)
        assert query.weights.keys() >= parse_query("誕生日").weights.keys()
        assert len(query.groups) < 500
