"""Recordings: what kind of sound a file is and how long it lasts, by its bytes and without decoding it.

A length is what the file says of itself, in the places where players look for it; whoever writes another one
there is found out by the server that hears it, which counts for itself.

tinytag reads Ogg, WAV, MP3 and MP4; WebM is read here (RFC 8794 and the Matroska specification).
"""

import re
import struct
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Final

from tinytag import TinyTag, TinyTagException

MAX_BYTES: Final = 25 * 2**20
"""What OpenAI's API reference says that a file may have at most."""
MAX_SECONDS: Final = 20 * 60
SHORTEST_S: Final = 0.1
"""With less nobody has said anything, and OpenAI's server refuses it."""
BYTES_A_SECOND: Final = 4000
"""About, of a file of which no more is known: Discord's own voice messages have 32 kbit/s."""
_HEAD: Final = 8192
"""Bytes in which a file tells what it holds."""


@dataclass(frozen=True, slots=True)
class Sound:
    """A recording's kind and length."""

    content_type: str
    """`audio/…`."""
    seconds: float | None
    """None where the file does not tell."""


class _NoSound(Exception):
    """A file is not what its first bytes say, or holds pictures beside the sound."""


def sound_of(data: bytes) -> Sound | None:
    """Return what sound a file holds; None where it is none of the kinds that models of speech take, or holds
    moving pictures."""
    for is_kind, content_type, measure in _KINDS:
        if is_kind(data):
            try:
                return Sound(content_type, measure(data))
            except (_NoSound, TinyTagException, struct.error, IndexError):
                return None
    return None


# ---- nothing said ----------------------------------------------------------------------------------------
# What models make of silence: the ends of the videos that they have learned from.

_SHORT_S: Final = 30.0
"""In which such a phrase may be all that is heard. In more there would have been time to say other things."""
_SLOWEST: Final = 1.0
"""Characters that anybody says in a second: with fewer it was silent for most of the time."""
_NOTE: Final = re.compile(r"[\[(（【<][^\[\](){}（）【】<>]{0,40}[\])）】>]")
"""Such as [BLANK_AUDIO] and (音楽)."""
_OF_SILENCE: Final = sorted(
    {
        "ご視聴ありがとうございました",
        "ご視聴ありがとうございます",
        "ご清聴ありがとうございました",
        "ご覧いただきありがとうございました",
        "最後までご視聴いただきありがとうございました",
        "最後までご視聴いただきありがとうございます",
        "最後まで視聴してくださって本当にありがとうございました",
        "字幕視聴ありがとうございました",
        "チャンネル登録お願いします",
        "チャンネル登録をお願いします",
        "チャンネル登録をお願いいたします",
        "チャンネル登録よろしくお願いします",
        "高評価とチャンネル登録をお願いします",
        "次の動画でお会いしましょう",
        "また次の動画でお会いしましょう",
        "thankyouforwatching",
        "thanksforwatching",
        "thankyousomuchforwatching",
        "thankyouforwatchingthisvideo",
        "pleasesubscribe",
        "pleasesubscribetomychannel",
        "pleaselikeandsubscribe",
        "dontforgettolikeandsubscribe",
        "seeyouinthenextvideo",
        "illseeyouinthenextvideo",
        "subtitlesbytheamaraorgcommunity",
        "transcriptionbycastingwords",
        "you",
    },
    key=len,
    reverse=True,
)


def says_nothing(text: str, seconds: float) -> bool:
    """Return whether a transcript holds no words, or those alone that models make of silence, where so many
    seconds are short or were silent for most of the time."""
    rest = "".join(filter(str.isalnum, unicodedata.normalize("NFKC", _NOTE.sub("", text)).casefold()))
    if not rest:
        return True
    if seconds > _SHORT_S and len(rest) >= seconds * _SLOWEST:
        return False
    while rest:
        phrase = next((phrase for phrase in _OF_SILENCE if rest.startswith(phrase)), None)
        if phrase is None:
            return False
        rest = rest.removeprefix(phrase)
    return True


# ---- Ogg, WAV, MP3, MP4 ----------------------------------------------------------------------------------

_MAX_READS: Final = 200_000
"""Twenty minutes of packets of 20 ms take a third of it; a hostile file has millions of parts."""


class _BoundedFile(BytesIO):
    """A file that fails after so many reads."""

    _reads = 0

    def read(self, size: int | None = -1, /) -> bytes:
        self._reads += 1
        if self._reads > _MAX_READS:
            raise OSError
        return super().read(size)


def _measure(data: bytes) -> float:
    tag = TinyTag.get(file_obj=_BoundedFile(data), tags=False)
    if tag.duration is None:
        raise _NoSound
    if tag.mime_type and tag.mime_type.startswith("audio/wav") and tag.bitrate:
        # The size of sound that was written as it came is unknown, and the largest there is.
        return min(tag.duration, len(data) * 8 / tag.bitrate / 1000)
    return tag.duration


def _measure_ogg(data: bytes) -> float:
    if b"\x80theora" in data[:_HEAD]:
        raise _NoSound
    # A recorder that just stops does not mark the last page as the last, and tinytag would leave it out.
    kind = data.rfind(b"OggS") + 5
    return _measure(data[:kind] + bytes([data[kind] | 4]) + data[kind + 1 :])


def _measure_mp4(data: bytes) -> float | None:
    handlers = set(re.findall(rb"hdlr.{8}(.{4})", data, re.DOTALL))
    if b"soun" not in handlers or b"vide" in handlers:
        raise _NoSound
    return _measure(data) or None  # 0 in one that was written as it was recorded


# ---- WebM ------------------------------------------------------------------------------------------------

_SEGMENT, _INFO, _TRACKS, _CLUSTER = 0x18538067, 0x1549A966, 0x1654AE6B, 0x1F43B675
_SCALE, _DURATION, _TRACK, _TRACK_TYPE, _TIMESTAMP = 0x2AD7B1, 0x4489, 0xAE, 0x83, 0xE7
_PARENTS: Final = frozenset({_SEGMENT, _INFO, _TRACKS, _CLUSTER, _TRACK})
_VIDEO: Final = 1
_MOST_ELEMENTS: Final = 100_000
"""More than twenty minutes, in blocks of 20 ms."""


def _elements(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the elements, those within others too, with the first bytes of what they hold."""
    at = 0
    for _ in range(_MOST_ELEMENTS):
        if at >= len(data):
            return
        name, at = _number(data, at, marked=True)
        size, at = _number(data, at)
        if name in _PARENTS:
            yield name, b""
            continue
        yield name, data[at : at + min(size, 8)]
        at += size


def _number(data: bytes, at: int, *, marked: bool = False) -> tuple[int, int]:
    """Read a number of variable length, and return it with where it ends. Raises IndexError, _NoSound."""
    first = data[at]
    length = 9 - first.bit_length()
    if length > 8 or at + length > len(data):
        raise _NoSound
    value = int.from_bytes(data[at : at + length], "big")
    return (value if marked else value & ~(1 << 7 * length)), at + length


def _measure_webm(data: bytes) -> float | None:
    """Return the duration that is told, or else that of the clusters, of what was written as it came."""
    scale, last, kinds, told = 1_000_000, 0, set[int](), None
    for name, content in _elements(data):
        if name == _CLUSTER and told:
            break
        number = int.from_bytes(content, "big")
        if name == _SCALE:
            scale = number
        elif name == _DURATION:
            told = struct.unpack(">f" if len(content) == 4 else ">d", content)[0]
        elif name == _TRACK_TYPE:
            kinds.add(number)
        elif name == _TIMESTAMP:
            last = max(last, number)
    if not kinds or _VIDEO in kinds:
        raise _NoSound
    length = told if told is not None and 0 < told < 2**53 else last
    return length * scale / 1e9 if length else None


# ---- kinds -----------------------------------------------------------------------------------------------

_MP3: Final = re.compile(rb"ID3|\xff[\xe2\xe3\xf2\xf3\xfa\xfb]")
_KINDS: Final[tuple[tuple[Callable[[bytes], bool], str, Callable[[bytes], float | None]], ...]] = (
    (lambda data: data.startswith(b"OggS"), "audio/ogg", _measure_ogg),
    (lambda data: data.startswith(b"RIFF") and data[8:12] == b"WAVE", "audio/wav", _measure),
    (lambda data: data[4:8] == b"ftyp", "audio/mp4", _measure_mp4),
    (lambda data: data.startswith(b"\x1aE\xdf\xa3"), "audio/webm", _measure_webm),
    (lambda data: _MP3.match(data) is not None, "audio/mpeg", _measure),
)
