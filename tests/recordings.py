"""Recordings: real ones that FFmpeg made, and ones of any length, put together by hand."""

import io
import struct
import wave
from pathlib import Path

from tests.loopback.discord import File


def by_ffmpeg(kind: str) -> bytes:
    """Three tenths of a second of a tone of 440 Hz."""
    return (Path(__file__).parent / "tones" / f"tone.{kind}").read_bytes()


def wav(seconds: float, *, rate: int = 8000) -> bytes:
    """Silence."""
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(rate)
        sound.writeframes(b"\x80" * round(seconds * rate))
    return file.getvalue()


def ogg(seconds: float, *, content: bytes = b"") -> bytes:
    """A voice message as Discord has it, Opus in Ogg; `content` makes one differ from another."""
    skipped = 312
    head = b"OpusHead" + struct.pack("<BBHIHB", 1, 1, skipped, 48_000, 0, 0)
    return (
        _page(2, 0, 0, head)
        + _page(0, 0, 1, b"OpusTags" + struct.pack("<II", 0, 0))
        + _page(4, round(seconds * 48_000) + skipped, 2, content or bytes(20))
    )


def _page(kind: int, granule: int, number: int, content: bytes) -> bytes:
    sizes = bytes([255] * (len(content) // 255) + [len(content) % 255])
    head = struct.pack("<4sBBQIIIB", b"OggS", 0, kind, granule, 1, number, 0, len(sizes))
    return head + sizes + content


def voice(seconds: float = 3.0, said: str = "") -> File:
    """A voice message as Discord's clients send it; what is `said` makes it another one."""
    data = ogg(seconds, content=said.encode())
    return File("voice-message.ogg", data, "audio/ogg", duration_s=seconds)


def mp3(seconds: float, *, tag: bytes = b"") -> bytes:
    """Frames of silence, MPEG 1 layer 3 of 32 kbit/s at 48 kHz; each lasts 24 ms."""
    return tag + (b"\xff\xfb\x14\x00" + bytes(92)) * round(seconds / 0.024)


def m4a(seconds: float, *, handler: bytes = b"soun") -> bytes:
    header = _box(b"mvhd", struct.pack(">IIIII", 0, 0, 0, 1000, round(seconds * 1000)) + bytes(80))
    track = _box(b"trak", _box(b"mdia", _box(b"hdlr", bytes(8) + handler + bytes(13))))
    return _box(b"ftyp", b"M4A \0\0\0\0") + _box(b"mdat", bytes(40)) + _box(b"moov", header + track)


def _box(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I4s", 8 + len(content), name) + content


def webm(seconds: float, *, codec: bytes = b"A_OPUS") -> bytes:
    """As browsers record it: without its duration."""
    track = _element("ae", bytes([0x86, 0x80 | len(codec)]) + codec)
    cluster = _element("e7", struct.pack(">I", round(seconds * 1000))) + _element("a3", bytes(20))
    segment = _element("1654ae6b", track) + _element("1f43b675", cluster)
    return _element("1a45dfa3", _element("4282", b"webm")) + _element("18538067", segment)


def _element(name: str, content: bytes) -> bytes:
    return bytes.fromhex(name) + struct.pack(">I", 0x10000000 | len(content)) + content
