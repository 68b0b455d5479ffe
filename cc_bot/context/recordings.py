"""Recordings: what kind of sound a file is and how long it lasts, by its bytes and without decoding it.

A length is what the file says of itself, in the places where players look for it; whoever writes another one
there is found out by the server that hears it, which counts for itself.

Sources: RFC 3533 and RFC 7845 (Ogg, Opus), ISO/IEC 14496-12 (`mvhd`, `hdlr`), ISO/IEC 11172-3 and 13818-3
(frames of MPEG audio), RFC 8794 and the Matroska specification (EBML, `Duration`), RIFF's `fmt ` and `data`.
"""

import re
import struct
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

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
    """A file is not of the kind that its first bytes say, or holds pictures beside the sound."""


def sound_of(data: bytes) -> Sound | None:
    """Return what sound a file holds; None where it is none of the kinds that models of speech take, or holds
    moving pictures."""
    for is_kind, content_type, measure in _KINDS:
        if is_kind(data):
            try:
                return Sound(content_type, measure(data))
            except (_NoSound, struct.error, IndexError):
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


# ---- Ogg -------------------------------------------------------------------------------------------------

_OPUS_RATE: Final = 48_000
"""Of granule positions, whatever the input had (RFC 7845, section 4)."""
_NO_PACKET_ENDS: Final = (1 << 64) - 1
_PAGE: Final = struct.Struct("<4sBBQI")
_MOST_PAGES: Final = 1000
"""That are looked at from the end: the last packet ends on one of the last two."""


def _measure_ogg(data: bytes) -> float | None:
    head = data[:_HEAD]
    if (at := head.find(b"OpusHead")) >= 0:
        skipped, rate = int.from_bytes(data[at + 10 : at + 12], "little"), _OPUS_RATE
    elif (at := head.find(b"\x01vorbis")) >= 0:
        skipped, rate = 0, int.from_bytes(data[at + 12 : at + 16], "little")
    else:
        raise _NoSound
    if b"\x80theora" in head or not rate:
        raise _NoSound
    end = _last_granule(data)
    return None if end is None else max(0.0, (end - skipped) / rate)


def _last_granule(data: bytes) -> int | None:
    at = len(data)
    for _ in range(_MOST_PAGES):
        at = data.rfind(b"OggS", 0, at)
        if at < 0:
            return None
        if len(data) - at >= _PAGE.size:
            granule: int = _PAGE.unpack_from(data, at)[3]
            if granule != _NO_PACKET_ENDS:
                return granule
    return None


# ---- WAV -------------------------------------------------------------------------------------------------


def _measure_wav(data: bytes) -> float | None:
    rate, at = 0, 12
    while at + 8 <= len(data):
        name, size = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "little")
        if name == b"fmt ":
            rate = int.from_bytes(data[at + 16 : at + 20], "little")
        elif name == b"data":
            return min(size, len(data) - at - 8) / rate if rate else None
        at += 8 + size + size % 2
    raise _NoSound


# ---- MP3 -------------------------------------------------------------------------------------------------

_BIT_RATES: Final = {
    3: (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    2: (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
"""In kbit/s, of layer 3: of MPEG 1, and of MPEG 2 and 2.5."""
_SAMPLE_RATES: Final = {3: (44_100, 48_000, 32_000), 2: (22_050, 24_000, 16_000), 0: (11_025, 12_000, 8_000)}
"""By version: 3 is MPEG 1, 2 is MPEG 2, 0 is MPEG 2.5."""
_MOST_FRAMES: Final = 60_000
"""More than twenty minutes, of the shortest that there are."""
_FRAMES_LOOKED_AT: Final = 4
_SYNC: Final = re.compile(rb"\xff[\xe2\xe3\xf2\xf3\xfa\xfb]")


@dataclass(frozen=True, slots=True)
class _Frame:
    size: int
    seconds: float


def _frame_at(data: bytes, at: int) -> _Frame | None:
    if at + 4 > len(data) or not _SYNC.match(data, at):
        return None
    version, rates, padding = data[at + 1] >> 3 & 3, data[at + 2], data[at + 2] >> 1 & 1
    bit_rate, sample_rate = rates >> 4, rates >> 2 & 3
    if version not in _SAMPLE_RATES or not 0 < bit_rate < 15 or sample_rate == 3:
        return None
    samples = 1152 if version == 3 else 576
    hertz = _SAMPLE_RATES[version][sample_rate]
    kilobits = _BIT_RATES[3 if version == 3 else 2][bit_rate]
    return _Frame(samples * kilobits * 125 // hertz + padding, samples / hertz)


def _frames(data: bytes) -> Iterator[_Frame]:
    """Yield the frames one after the other, from the first that another one follows."""
    at = _first_frame(data)
    while frame := _frame_at(data, at):
        yield frame
        at += frame.size


def _first_frame(data: bytes) -> int:
    """Return where they begin: behind a tag, if there is one."""
    start = 0
    if data.startswith(b"ID3"):
        size = 0
        for byte in data[6:10]:
            size = size << 7 | byte & 0x7F
        start = 10 + size
    for found in islice(_SYNC.finditer(data, start, start + _HEAD), 64):
        frame = _frame_at(data, found.start())
        if frame and _frame_at(data, found.start() + frame.size):
            return found.start()
    raise _NoSound


def _measure_mp3(data: bytes) -> float | None:
    return sum(frame.seconds for frame in islice(_frames(data), _MOST_FRAMES))


def _is_mp3(data: bytes) -> bool:
    return data.startswith(b"ID3") or _SYNC.match(data) is not None


# ---- MP4 -------------------------------------------------------------------------------------------------

_MOST_BOXES: Final = 1000


def _boxes(data: bytes, at: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """Yield each box with where its content begins and ends."""
    for _ in range(_MOST_BOXES):
        if at + 8 > end:
            return
        size, name, begin = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8], at + 8
        if size == 1:
            size, begin = int.from_bytes(data[at + 8 : at + 16], "big"), at + 16
        stop = end if size == 0 else at + size
        if stop < begin:
            return
        yield name, begin, min(stop, end)
        at = stop


def _measure_mp4(data: bytes) -> float | None:
    movie = next(((begin, end) for name, begin, end in _boxes(data, 0, len(data)) if name == b"moov"), None)
    if movie is None:
        raise _NoSound
    handlers = {data[at + 12 : at + 16] for at in _places(data, b"hdlr", *movie)}
    if b"soun" not in handlers or b"vide" in handlers:
        raise _NoSound
    for name, begin, _ in _boxes(data, *movie):
        if name == b"mvhd":
            return _movie_seconds(data, begin)
    return None


def _movie_seconds(data: bytes, at: int) -> float | None:
    """Return what a movie's header says. That of a file which was written as it was recorded says 0."""
    scale, length = struct.unpack_from(">IQ" if data[at] == 1 else ">II", data, at + (20 if data[at] else 12))
    return length / scale if scale and length else None


def _places(data: bytes, name: bytes, at: int, end: int) -> Iterator[int]:
    while (at := data.find(name, at, end)) >= 0:
        yield at
        at += len(name)


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

_KINDS: Final[tuple[tuple[Callable[[bytes], bool], str, Callable[[bytes], float | None]], ...]] = (
    (lambda data: data.startswith(b"OggS"), "audio/ogg", _measure_ogg),
    (lambda data: data.startswith(b"RIFF") and data[8:12] == b"WAVE", "audio/wav", _measure_wav),
    (lambda data: data[4:8] == b"ftyp", "audio/mp4", _measure_mp4),
    (lambda data: data.startswith(b"\x1aE\xdf\xa3"), "audio/webm", _measure_webm),
    (_is_mp3, "audio/mpeg", _measure_mp3),
)
