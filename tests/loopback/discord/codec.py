"""How gateway payloads travel: as text, or as one compressed stream per connection."""

import json
import sys
import zlib
from typing import Any, Protocol


class Codec(Protocol):
    def encode(self, payload: dict[str, Any]) -> str | bytes: ...


def _dump(payload: dict[str, Any]) -> str:
    return json.dumps(payload, ensure_ascii=False)


class Plain:
    """Text frames."""

    def encode(self, payload: dict[str, Any]) -> str:
        return _dump(payload)


class ZlibStream:
    """`compress=zlib-stream`: one zlib context, flushed after each payload."""

    def __init__(self) -> None:
        self._deflate = zlib.compressobj()

    def encode(self, payload: dict[str, Any]) -> bytes:
        return self._deflate.compress(_dump(payload).encode()) + self._deflate.flush(zlib.Z_SYNC_FLUSH)


class ZstdStream:
    """`compress=zstd-stream`: hikari asks for it when it finds a zstd module, so one is there to import."""

    def __init__(self) -> None:
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd

        self._compressor = zstd.ZstdCompressor()

    def encode(self, payload: dict[str, Any]) -> bytes:
        return self._compressor.compress(_dump(payload).encode(), self._compressor.FLUSH_BLOCK)


def codec_for(compress: str | None) -> Codec:
    match compress:
        case "zlib-stream":
            return ZlibStream()
        case "zstd-stream":
            return ZstdStream()
        case _:
            return Plain()
