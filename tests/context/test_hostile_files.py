"""Files that were made to do harm: headers that lie, archives that unfold, text that is none.

Nothing that comes as a file is ever unpacked, decompressed or decoded as a picture here: an image goes to the
model as the bytes that it is, and all else is text or refused. So a bomb has nothing to go off in; what is
fuzzed is that it is recognised, and that no file is taken for what it is not.
"""

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cc_bot.context.attachments import (
    MAX_IMAGE_BYTES,
    MAX_TEXT_BYTES,
    as_prompt_text,
    read_attachment,
)
from cc_bot.domain.errors import AttachmentNotSupported, AttachmentTooLarge

IMAGES = {
    "image/png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "image/jpeg": b"\xff\xd8\xff\xe0",
    "image/gif": b"GIF89a",
    "image/webp": b"RIFF\xff\xff\xff\xffWEBP",
}
HEADS = st.sampled_from(
    [*IMAGES.values(), b"PK\x03\x04", b"%PDF-", b"\x1f\x8b\x08", b"MZ", b"\x7fELF", b"BM"]
)
UNREADABLE = [*range(9), 11, *range(14, 27), *range(28, 32), 127]
"""Control characters that no text holds; 27 colours the logs of terminals."""

_MEGABYTES = b"\0" * (4 * 2**20)


def zipped(data: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", data)
    return file.getvalue()


def png_of(width: int, height: int) -> bytes:
    """The first bytes of a picture that says to be so large, with nothing behind them."""
    header = b"IHDR" + width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\x06\0\0\0"
    return b"\x89PNG\r\n\x1a\n\0\0\0\r" + header + zlib.crc32(header).to_bytes(4, "big")


class TestBomb:
    @pytest.mark.parametrize(
        "pack", [zipped, gzip.compress, bz2.compress, lzma.compress, zlib.compress], ids=lambda f: f.__name__
    )
    def test_is_refused_and_never_unfolded(self, pack: Callable[[bytes], bytes]) -> None:
        packed = pack(_MEGABYTES)
        assert len(packed) < MAX_TEXT_BYTES
        with pytest.raises(AttachmentNotSupported):
            read_attachment("a.txt", packed)

    def test_of_pixels_stays_the_bytes_that_it_is(self) -> None:
        data = png_of(2**31 - 1, 2**31 - 1)
        assert read_attachment("a.png", data).data == data


class TestHeader:
    @given(name=st.sampled_from(["a.txt", "a.png", "a.exe", ""]), rest=st.binary(max_size=200))
    @pytest.mark.parametrize("kind", IMAGES)
    def test_of_an_image_decides_whatever_the_name_says(self, kind: str, name: str, rest: bytes) -> None:
        read = read_attachment(name, IMAGES[kind] + rest)
        assert (read.content_type, read.data) == (kind, IMAGES[kind] + rest)

    @given(head=HEADS, cut=st.integers(1, 16), rest=st.binary(max_size=300))
    def test_that_is_cut_or_followed_by_anything_gives_text_an_image_or_a_refusal(
        self, head: bytes, cut: int, rest: bytes
    ) -> None:
        try:
            read = read_attachment("a.png", head[:cut] + rest)
        except (AttachmentNotSupported, AttachmentTooLarge):
            return
        if read.is_image:
            assert read.content_type in IMAGES
        else:
            assert not {*read.data.decode()} & {*map(chr, UNREADABLE)}
            assert as_prompt_text(read, len)

    @pytest.mark.parametrize("kind", IMAGES)
    def test_of_an_image_does_not_excuse_its_size(self, kind: str) -> None:
        with pytest.raises(AttachmentTooLarge):
            read_attachment("a", IMAGES[kind] + bytes(MAX_IMAGE_BYTES))


class TestName:
    @settings(max_examples=50)
    @given(name=st.text(max_size=150))
    def test_never_leaves_its_line(self, name: str) -> None:
        first, *_ = as_prompt_text(read_attachment(name, "本文".encode()), len).split("\n")
        assert first.startswith('The user attached the file "')
        assert first.endswith('":')
        assert first.count('"') == 2
        assert first.isprintable()
