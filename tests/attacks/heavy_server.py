"""A server of tools whose results are as hard to read as can be, over stdio or HTTP.

    python -m tests.attacks.heavy_server stdio RESULT
    python -m tests.attacks.heavy_server PORT          RESULT is the path: /json/RESULT or /events/RESULT

It keeps no message in memory: what it sends is made piece by piece.
"""

import http.server
import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

Write = Callable[[bytes], object]

SIZE: Final = 11_000_000
PIECE: Final = 1 << 16
FLOOD_S: Final = 3.0


def many(unit: str, count: int | None = None, separator: str = "") -> Iterator[bytes]:
    """Yield a unit again and again: so many times, or until there are SIZE bytes."""
    one = (unit + separator).encode()
    left = SIZE // len(one) if count is None else count
    while left > 0:
        now = min(left, max(1, PIECE // len(one)))
        yield one * now
        left -= now
    if separator:
        yield unit.encode()


def result(before: str, middle: Iterator[bytes], after: str) -> Iterator[bytes]:
    yield before.encode()
    yield from middle
    yield after.encode()


def text(unit: str) -> Iterator[bytes]:
    return result('{"content":[{"type":"text","text":"', many(unit), '"}]}')


def value(before: str, middle: Iterator[bytes], after: str) -> Iterator[bytes]:
    return result(f'{{"content":[],"structuredContent":{{"x":{before}', middle, f"{after}}}}}")


def keys(count: int) -> Iterator[bytes]:
    for first in range(0, count, 1000):
        yield "".join(f'"{number:x}":0,' for number in range(first, first + 1000)).encode()
    yield b'"last":0'


BLOCK: Final = '{"type":"text","text":"a"}'
PICTURE: Final = '{"content":[{"type":"image","mimeType":"image/png","data":"iVBORw0KGgoAAAANSUhEUkFC'
RESULTS: Final[dict[str, Callable[[], Iterator[bytes]]]] = {
    "halves": lambda: text("\\ud800"),
    "escapes": lambda: text("\\n"),
    "unprintable": lambda: text("\U000e0041"),
    "punctuation": lambda: text("[{,"),
    "picture": lambda: result(PICTURE, many("QUJD", 10_600_000 // 4), '"}]}'),
    "long_numbers": lambda: value("[", many("1" * 4299, separator=","), "]"),
    "one_fraction": lambda: value("0.", many("1"), ""),
    "as_many_values_as_there_may_be": lambda: value("[", many("[]", 49_000, ","), "]"),
    "as_many_keys_as_there_may_be": lambda: value("{", keys(99_000), "}"),
    "lists": lambda: value("[", many("[]", separator=","), "]"),
    "a_million_keys": lambda: value("{", keys(1_000_000), "}"),
    "a_hundred_thousand_parts": lambda: result('{"content":[', many(BLOCK, 99_999, ","), "]}"),
    "thirty_thousand_parts": lambda: result('{"content":[', many(BLOCK, 29_999, ","), "]}"),
    "depth": lambda: value("", many("[", SIZE // 2), ""),
    "some_depth": lambda: value("", many("[", 900), "]" * 900),
}
TOOL: Final = {
    "name": "look",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string", "pattern": "^(a+)+$"}}},
    "annotations": {"readOnlyHint": True, "openWorldHint": False},
}
LISTS: Final[dict[str, Callable[[], Iterator[bytes]]]] = {
    "a_hundred_thousand_tools": lambda: result('{"tools":[', many('{"name":"look"}', 99_999, ","), "]}"),
    "a_large_schema": lambda: result(
        '{"tools":[{"name":"look","inputSchema":{"properties":{', keys(99_000), "}}}]}"
    ),
}


def asked(method: str, params: str) -> bytes:
    """Return a flood's unit: questions with ids of their own."""
    return b"".join(
        f'{{"jsonrpc":"2.0","id":"{method}-{number}","method":"{method}","params":{params}}}\n'.encode()
        for number in range(max(1, 300_000 // (len(params) + 100)))
    )


FLOODS: Final = {
    "notifications": b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n',
    "questions": b'{"jsonrpc":"2.0","id":"a","method":"ping"}\n',
    "forms": asked(
        "elicitation/create",
        '{"message":"?","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}',
    ),
    "long_forms": asked("elicitation/create", f'{{"message":"{"?" * 900_000}"}}'),
    "samples": asked("sampling/createMessage", '{"messages":[],"maxTokens":1}'),
    "lines": b"\n",
}


STREAMS: Final[dict[str, Callable[[], Iterator[bytes]]]] = {
    "one_byte_chunks": lambda: (b":" for _ in range(300_000)),
    "blank_lines": lambda: many("\n"),
    "punycode": lambda: result("data: ", many("a"), "\n\n"),
    "lines_of_data": lambda: result("", many("data: [],\n"), "\n\n"),
}


def answer_to(message: dict[str, Any], name: str) -> Iterator[bytes]:
    match message["method"]:
        case "initialize":
            given = {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "heavy", "version": "1"},
            }
            told = iter([json.dumps(given).encode()])
        case "tools/list":
            told = LISTS[name]() if name in LISTS else iter([json.dumps({"tools": [TOOL]}).encode()])
        case "tools/call":
            told = RESULTS[name]()
        case _:
            error = {"code": -32601, "message": "Method not found"}
            yield json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}).encode()
            return
    yield from result(f'{{"jsonrpc":"2.0","id":{json.dumps(message["id"])},"result":', told, "}")


def speak_over_stdio(name: str) -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("method") == "tools/call" and name not in RESULTS:
            stream = sys.stderr.buffer if name == "errors" else sys.stdout.buffer
            flood(stream.write, FLOODS.get(name, b"\n"))
        elif "id" in message and "method" in message:
            for piece in answer_to(message, name):
                sys.stdout.buffer.write(piece)
            sys.stdout.buffer.write(b"\n")
            sys.stdout.flush()


def flood(write: Write, unit: bytes) -> None:
    until = time.monotonic() + FLOOD_S
    while time.monotonic() < until:
        write(unit * max(1, PIECE // len(unit)))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._send(405, "text/plain", iter(()))

    do_DELETE = do_GET  # noqa: N815 - the name that the library calls

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        _, form, name = self.path.split("/")
        if "id" not in message:
            self._send(202, "text/plain", iter(()))
        elif message["method"] == "tools/call" and name in STREAMS:
            self._send(
                200, f"text/event-stream{'; charset=punycode' * (name == 'punycode')}", STREAMS[name]()
            )
        elif message["method"] == "tools/call" and name in FLOODS:
            events = FLOODS[name].replace(b'{"json', b'\ndata: {"json')
            self._send(200, "text/event-stream", (events for _ in range(20)))
        elif form == "events":
            told = answer_to(message, name)
            self._send(200, "text/event-stream", result("event: message\ndata: ", told, "\n\n"))
        else:
            self._send(200, "application/json", answer_to(message, name))

    def _send(self, status: int, content_type: str, body: Iterator[bytes]) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in body:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\n\r\n")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Say nothing of a client that went away."""


def main(way: str, *rest: str) -> None:
    if way == "stdio":
        speak_over_stdio(rest[0])
    else:
        Server(("127.0.0.1", int(way)), Handler).serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
