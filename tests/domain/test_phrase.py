"""Natural language is matched as `re` matches it, and no longer than it may take."""

import re
from itertools import repeat

import pytest

from cc_bot.domain.phrase import Phrase, TookTooLong, time_for_phrases

ENDLESS = Phrase(r"^(?:\s|a)*(?:\s|a)*(?:\s|a)*(?:\s|a)*[xy]")
TEXT = " a" * 2000 + "あ"


class TestPhrase:
    def test_finds_what_re_finds(self) -> None:
        written, text = r"(?P<what>[a-z]+)を|(\d)", "Catを 1 dogを 22"
        phrase, plain = Phrase(written, re.IGNORECASE), re.compile(written, re.IGNORECASE)
        assert [each.groupdict() for each in phrase.finditer(text)] == [
            each.groupdict() for each in plain.finditer(text)
        ]
        assert phrase.sub("_", text) == plain.sub("_", text)
        assert phrase.sub(lambda match: match[0].upper(), text) == plain.sub(lambda m: m[0].upper(), text)
        assert phrase.split(text) == plain.split(text)
        found = (phrase.search("a 1"), phrase.match("dogを"), phrase.fullmatch("dogを"))
        assert [match and match[0] for match in found] == ["1", "dogを", "dogを"]
        assert phrase.fullmatch("dogを。") is None

    def test_ends_at_its_limit(self) -> None:
        for how in ("search", "match", "fullmatch", "split", "finditer", "sub"):
            arguments = ("", TEXT) if how == "sub" else (TEXT,)
            with pytest.raises(TookTooLong):
                list(getattr(ENDLESS, how)(*arguments))


class TestTimeForAll:
    def test_is_shared_and_no_longer_within_another_and_over_after_it(self) -> None:
        blanks = Phrase(r"\s*\s*b")
        with time_for_phrases(0.1), pytest.raises(TookTooLong):
            list(map(blanks.search, repeat(" " * 600)))  # without an end of its own
        with time_for_phrases(0), time_for_phrases(10), pytest.raises(TookTooLong):
            Phrase("a").search("a")
        with time_for_phrases(0), pytest.raises(TookTooLong):
            Phrase("a").search("a")
        assert Phrase("a").search("a")
