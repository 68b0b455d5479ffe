"""Finds the kind and length of a recording without decoding it. A file may state a false length."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from typing import Final

from tinytag import TinyTag, TinyTagException

MAX_BYTES: Final = 25 * 2**20
MAX_LENGTH_S: Final = 20 * 60
MIN_LENGTH_S: Final = 0.1  # OpenAI refuses less
BYTES_PER_AUDIO_SECOND: Final = 4000  # if the length is unknown; Discord's voice messages have 32 kbit/s
_HEAD_BYTES: Final = 8192


@dataclass(frozen=True, slots=True)
class Sound:
    content_type: str
    seconds: float | None


class _NotAudio(Exception):
    pass


def probe_audio(data: bytes) -> Sound | None:
    """Return None for an unsupported kind, or a video."""
    for is_kind, content_type, measure in _KINDS:
        if is_kind(data):
            try:
                return Sound(content_type, measure(data))
            except (_NotAudio, TinyTagException):
                return None
    return None


_MAX_READS: Final = 200_000  # a third is enough for MAX_LENGTH_S of 20 ms packets


class _BoundedFile(BytesIO):
    """Raises OSError after too many reads."""

    _reads = 0

    def read(self, size: int | None = -1, /) -> bytes:
        self._reads += 1
        if self._reads > _MAX_READS:
            raise OSError
        return super().read(size)


def _measure(data: bytes) -> float:
    tag = TinyTag.get(file_obj=_BoundedFile(data), tags=False)
    if tag.duration is None:
        raise _NotAudio
    if tag.mime_type and tag.mime_type.startswith("audio/wav") and tag.bitrate:
        # Live recordings state no size, or the largest possible one.
        return min(tag.duration, len(data) * 8 / tag.bitrate / 1000)
    return tag.duration


def _measure_ogg(data: bytes) -> float:
    if b"\x80theora" in data[:_HEAD_BYTES]:
        raise _NotAudio
    # An aborted recording lacks the last-page mark, without which tinytag ignores the page.
    flags_at = data.rfind(b"OggS", 0, -2) + 5  # in the header of the last page
    return _measure(data[:flags_at] + bytes([data[flags_at] | 4]) + data[flags_at + 1 :])


def _measure_mp4(data: bytes) -> float | None:
    handlers = set(re.findall(rb"hdlr.{8}(.{4})", data, re.DOTALL))
    if b"soun" not in handlers or b"vide" in handlers:
        raise _NotAudio
    return _measure(data) or None  # a file written while recording states 0


_WEBM_CODEC: Final = re.compile(rb"\x86[\x80-\x9f]([AV])_[A-Z]")


def _check_webm(data: bytes) -> None:
    if set(_WEBM_CODEC.findall(data[:_HEAD_BYTES])) != {b"A"}:
        raise _NotAudio


_MP3: Final = re.compile(rb"ID3|\xff[\xe2\xe3\xf2\xf3\xfa\xfb]")
_KINDS: Final[tuple[tuple[Callable[[bytes], bool], str, Callable[[bytes], float | None]], ...]] = (
    (lambda data: data.startswith(b"OggS\0"), "audio/ogg", _measure_ogg),
    (lambda data: data.startswith(b"RIFF") and data[8:12] == b"WAVE", "audio/wav", _measure),
    (lambda data: data[4:8] == b"ftyp", "audio/mp4", _measure_mp4),
    (lambda data: data.startswith(b"\x1aE\xdf\xa3"), "audio/webm", _check_webm),
    (lambda data: _MP3.match(data) is not None, "audio/mpeg", _measure),
)
