"""Reads a document from standard input, and writes an answer: its length in four bytes, then JSON.

The answer is `{"kind", "unit", "parts": [[name, text]], "headings": [[title, part]], "pictures": [base64]}`
or `{"error": …}`. With the argument `page`, a line with kind (`html`, `json` or `text`) and encoding precedes
a web page, and the answer is `{"title", "text"}`. `unconfined` permits reading without a sandbox.
"""

import encodings
import json
import os
import sys
from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pkgutil import iter_modules

from cc_bot.features.documents import Content, DocumentRefused
from cc_bot.features.documents.sandbox import CPU_S, MEMORY_BYTES, NotConfined, enter_sandbox

MAX_BYTES = 20 * 2**20
PAGE, UNCONFINED = "page", "unconfined"
PAGE_MEMORY_BYTES = 92 * 2**20
PAGE_CPU_S = 8
MAX_PAGE_CHARACTERS = 50_000
_ZIP, _OLE = (b"PK\x03\x04", b"PK\x05\x06"), b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_SNIFFED_BYTES = 1024  # some printers put text before `%PDF-`


def main() -> None:
    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    answer_fd = os.dup(1)
    os.dup2(2, 1)  # libraries may write output
    answer = _make_answer(data, sys.argv[1:])
    unsent = len(answer).to_bytes(4, "big") + answer
    while unsent:
        unsent = unsent[os.write(answer_fd, unsent) :]


def _make_answer(data: bytes, arguments: list[str]) -> bytes:
    answer: dict[str, object]
    try:
        if len(data) > MAX_BYTES:
            raise DocumentRefused("too_long")
        is_page, beginning = PAGE in arguments, data[:_SNIFFED_BYTES]
        parse = _load_page_parser(beginning) if is_page else _load_parser(beginning)
        for module in iter_modules(encodings.__path__, "encodings."):
            with suppress(ImportError):  # a codec of another system
                import_module(module.name)
        memory_bytes, cpu_s = (PAGE_MEMORY_BYTES, PAGE_CPU_S) if is_page else (MEMORY_BYTES, CPU_S)
        try:
            enter_sandbox(memory_bytes=memory_bytes, cpu_s=cpu_s)
        except NotConfined:
            if UNCONFINED not in arguments:
                raise DocumentRefused("not_confined") from None
        answer = parse(data)
    except DocumentRefused as refused:
        answer = {"error": str(refused)}
    except (MemoryError, RecursionError):
        answer = {"error": "too_long"}
    except ImportError:
        answer = {"error": "not_installed"}
    return json.dumps(answer).encode()


def _load_parser(beginning: bytes) -> Callable[[bytes], dict[str, object]]:
    if b"%PDF-" in beginning:
        parse = import_module("cc_bot.features.documents.pdf").read_pdf
    elif beginning.startswith(_ZIP):
        parse = import_module("cc_bot.features.documents.office").read_package
    elif beginning.startswith(_OLE):
        parse = import_module("cc_bot.features.documents.office").read_ole
    elif beginning.startswith(b"{\\rtf"):
        raise DocumentRefused("old_format")
    else:
        parse = import_module("cc_bot.features.documents.plain").read_separated
    return lambda data: _content_as_json(parse(data))


def _content_as_json(content: Content) -> dict[str, object]:
    if not content.pictures and not any(text for _, text in content.parts):
        raise DocumentRefused("unreadable")
    return {
        "kind": content.kind,
        "unit": content.unit,
        "parts": content.parts,
        "headings": content.headings,
        "pictures": [b64encode(picture).decode() for picture in content.pictures],
    }


def _load_page_parser(beginning: bytes) -> Callable[[bytes], dict[str, object]]:
    kind, _, encoding = beginning.partition(b"\n")[0].decode("ascii", "replace").partition(" ")
    parse = import_module(f"cc_bot.features.documents.{'html' if kind == 'html' else 'plain'}").read_page

    def read(data: bytes) -> dict[str, object]:
        title, text = parse(data.partition(b"\n")[2], encoding)
        if not text.strip():
            raise DocumentRefused("unreadable")
        return {"title": title, "text": text.strip()[:MAX_PAGE_CHARACTERS]}

    return read


if __name__ == "__main__":
    main()
