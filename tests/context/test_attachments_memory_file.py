"""Files of memories are read in whatever encoding Japanese is written in."""

import pytest

from cc_bot.context.attachments import read_memory_file
from cc_bot.domain.errors import ImportNotUnderstood
from cc_bot.domain.memory_transfer import PortableMemory, to_json
from tests.domain.test_memory_transfer import NOW


class TestAFile:
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp932", "euc_jp", "iso2022_jp"])
    def test_may_be_in_any_encoding(self, encoding: str) -> None:
        data = "猫の名前はタマ\n誕生日は三月十五日\n".encode(encoding)
        assert [memory.content for memory in read_memory_file(data)] == [
            "猫の名前はタマ",
            "誕生日は三月十五日",
        ]

    @pytest.mark.parametrize("content", ["\x01\x7f\x9b", "\x1b[31m赤", "﻿x"])
    def test_of_ours_may_hold_what_no_other_text_does(self, content: str) -> None:
        data = to_json([PortableMemory(content)], NOW).encode()
        assert read_memory_file(data) == [PortableMemory(content)]

    @pytest.mark.parametrize(
        "data", [b"", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), b"PK\x03\x04\xff\xfe\x00"]
    )
    def test_that_is_no_text_is_refused(self, data: bytes) -> None:
        with pytest.raises(ImportNotUnderstood):
            read_memory_file(data)
