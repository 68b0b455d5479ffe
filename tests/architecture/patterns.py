import ast
import gc
import importlib
import pkgutil
import random
import re
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from math import inf
from pathlib import Path
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any, Final

import regex  # type: ignore[import-untyped]  # its stubs are not among the dependencies

import cc_bot

_parser: Final[Any] = importlib.import_module("re._parser")
_compiler: Final[Any] = importlib.import_module("re._compiler")
_CALLS: Final = {*("compile", "match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer")}
_CONTAINERS: Final = (dict, list, tuple, set, frozenset, MappingProxyType)
_OTHER_SYNTAX: Final = (
    *(("\\X", "."), ("\\p{M}", "\\u0301"), ("\\p{Han}", "漢"), ("\\p{Hiragana}", "あ")),
    *(("\\p{Extended_Pictographic}", "😀"), ("\\p{Regional_Indicator}", "🇯")),
)


@dataclass(frozen=True, slots=True)
class Found:
    """A pattern (of `re` or of `regex`) and where it is."""

    location: str
    pattern: Any


@cache
def modules() -> tuple[ModuleType, ...]:
    """All modules of the package, imported."""
    names = [found.name for found in pkgutil.walk_packages(cc_bot.__path__, "cc_bot.")]
    return tuple(importlib.import_module(name) for name in names if not name.endswith("__main__"))


@cache
def patterns() -> tuple[Found, ...]:
    """Every compiled pattern that a module can reach, and each that is written into a call."""
    written = (Found(location, pattern) for location, _, pattern in calls() if pattern is not None)
    return tuple({(each.pattern.pattern, each.pattern.flags): each for each in (*written, *_kept())}.values())


def _kept() -> Iterator[Found]:
    seen = set[int]()
    for module in modules():
        waiting = deque((name, value) for name, value in vars(module).items() if name != "__builtins__")
        while waiting:
            name, value = waiting.popleft()
            if id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, re.Pattern | regex.Pattern):
                yield Found(f"{module.__name__}.{name}", value)
            elif _is_ours(value, module) or isinstance(value, _CONTAINERS):
                waiting.extend((name, inner) for inner in gc.get_referents(value))


def _is_ours(value: object, module: ModuleType) -> bool:
    if isinstance(value, ModuleType):
        return False
    if type(value).__name__ == "cell" or isinstance(value, property | staticmethod | classmethod):
        return True
    if isinstance(value, type | FunctionType):
        return value.__module__ == module.__name__
    return str(type(value).__module__).startswith("cc_bot")


class _StandIn(str):
    """For an id or a name that only a call knows, and for what it has."""

    __slots__ = ()

    def __getattr__(self, _: str) -> str:
        return self

    def __getitem__(self, _: object) -> str:
        return self


class _OnlyACallKnows(dict[str, str]):
    def __init__(self, known: dict[str, Any]) -> None:
        self.known = known

    def __missing__(self, name: str) -> str:
        if name in self.known or name in self.known["__builtins__"]:
            raise KeyError(name)
        return _StandIn("7")


def calls() -> Iterator[tuple[str, str, Any]]:
    """Where patterns are handed on: the place, what is written there, and the pattern, if it tells."""
    for module in modules():
        for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text("utf-8"))):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id="re" | "regex" as library), attr=function),
                    args=[first, *more],
                ) if function in _CALLS:
                    flags = [ast.unparse(word.value) for word in node.keywords if word.arg == "flags"]
                    flags += map(ast.unparse, more[:1] if function == "compile" else [])
                    make = f"{library}.compile({', '.join([ast.unparse(first), *flags])})"
                    local = _OnlyACallKnows(vars(module)) if isinstance(first, ast.JoinedStr) else {}
                    pattern = None
                    with suppress(NameError):
                        pattern = eval(make, vars(module), local)
                    yield f"{module.__name__}:{node.lineno}", ast.unparse(node), pattern


@dataclass(frozen=True, slots=True)
class Attack:
    """`before`, then something many times, then `after`."""

    before: str
    pump: str
    after: str

    def text(self, length: int) -> str:
        """About so many characters."""
        return f"{self.before}{self.pump * max(2, length // len(self.pump))}{self.after}"


def attacks(pattern: Any, count: int) -> list[Attack]:
    """So many of them at most, those that are known to hurt first; the same ones each time."""
    rng = random.Random(repr(pattern.pattern))
    tree = _tree(pattern)
    wholes = [_sample(tree, rng) for _ in range(6)]
    repeats = list(_repeats(tree, "", rng))
    # What begins again and again and never ends; what is repeated; the whole, with and without its end.
    begun = [Attack("", pump, "\x00") for head, pumps in repeats for pump in (head, head + pumps[0])]
    again = [
        Attack(before, pump, rng.choice(("", "\x00", "!")))
        for head, pumps in repeats
        for pump in pumps
        for before in ("", head)
    ]
    whole = [Attack("", each, "\x00") for sample in wholes for each in (sample, sample[:-1])]
    rng.shuffle(begun)
    rng.shuffle(again)
    chosen = (*begun[: count // 2], *whole[:2], *again[: count // 3], *whole, *again)
    blank = [Attack("", pump, tail) for pump in (" ", "\n") for tail in ("", "\x00")]
    return list(dict.fromkeys(each for each in (*chosen, *blank) if each.pump))[:count]


def _tree(pattern: Any) -> Any:
    """As `re` parses it; of the flags that one counts which changes how a pattern is written."""
    written = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    if isinstance(pattern, regex.Pattern):
        for theirs, ours in _OTHER_SYNTAX:
            written = written.replace(theirs, ours)
    return _parser.parse(written, pattern.flags & re.VERBOSE)


def _inner(op: str, value: Any) -> Sequence[Any]:
    """The patterns inside a part."""
    match op:
        case "BRANCH":
            return list(value[1])
        case "SUBPATTERN":
            return [value[3]]
        case "ATOMIC_GROUP":
            return [value]
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            return [value[2]]
        case "ASSERT" | "ASSERT_NOT":
            return [value[1]]
        case _:
            return []


def _sample(items: Any, rng: random.Random) -> str:
    """Something that it may match."""
    return "".join(_sample_one(str(op), (op, value), rng) for op, value in items)


def _sample_one(op: str, item: tuple[Any, Any], rng: random.Random) -> str:
    value = item[1]
    match op:
        case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN":
            return rng.choice(_characters(item))
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            times = rng.randint(value[0], max(value[0], min(int(value[1]), value[0] + 2)))
            return "".join(_sample(value[2], rng) for _ in range(times))
        case "ASSERT" if value[0] < 0 or rng.random() < 0.5:
            return ""
        case "ASSERT_NOT":
            return ""
        case _:
            inner = _inner(op, value)
            return _sample(rng.choice(inner), rng) if inner else ""


def _characters(item: tuple[Any, Any]) -> list[str]:
    """Some that this part of a pattern takes."""
    one = _compiler.compile(_parser.SubPattern(_parser.State(), [item]))
    numbers = re.findall(r"\d+", str(item)) if str(item[0]) in ("IN", "LITERAL") else []
    named = [chr(int(number)) for number in numbers[:40]]
    return [each for each in dict.fromkeys((*named, *"aあ1 -漢ア`*\nz!_、　")) if one.fullmatch(each)] or [
        "\x01"
    ]


def _repeats(items: Any, before: str, rng: random.Random) -> Iterator[tuple[str, list[str]]]:
    for op, value in items:
        if str(op).endswith("REPEAT") and value[1] > 8:
            yield before, list(dict.fromkeys(_sample(value[2], rng) for _ in range(8)))
        for inner in _inner(str(op), value):
            yield from _repeats(inner, before, rng)
        before += _sample_one(str(op), (op, value), rng)


SHORT: Final = (8, 12, 16, 20, 24, 28, 32, 40, 48, 64, 96, 144, 200, 300)
"""Characters. They grow slowly, so that what doubles with each of them is seen before it takes hours."""
FLOOR_S: Final = 0.002
"""Processor time; less is not worth comparing."""
STEEPEST: Final = 1.6
"""The exponent of a length that is still taken for linear: what is quadratic has 2."""


def slow_at(run: Callable[[str], object], attack: Attack, lengths: Sequence[int]) -> int | None:
    """The length up to which its time grew faster than the text; None if it never did. A suspicion is
    measured again, several times, before it counts: others use this machine too."""
    known: list[tuple[int, float]] = []
    for length in lengths:
        text = attack.text(length)
        spent = _seconds(run, text)
        if spent > FLOOR_S and _is_steep(run, attack, known, len(text), spent):
            return len(text)
        known.append((len(text), spent))
    return None


def _is_steep(
    run: Callable[[str], object], attack: Attack, known: list[tuple[int, float]], size: int, spent: float
) -> bool:
    smaller = [(length, each) for length, each in known if length * 3.5 <= size] or known[:1]
    if not smaller:
        return False
    length, before = smaller[-1]
    if length == size or not _out_of_proportion(size / length, spent, before):
        return False
    text, shorter = attack.text(size), attack.text(length)
    shorter = shorter if len(shorter) <= length + len(attack.pump) else shorter[:length]
    again, before = spent, inf
    for number in range(9):
        # One after the other: what a busy machine takes from one it takes from the other, too.
        before = min(before, _seconds(run, shorter))
        again = again if spent >= 1 else min(again, _seconds(run, text))
        if number >= 2 and not _out_of_proportion(size / len(shorter), again, before):
            return False
    return True


def _out_of_proportion(longer: float, spent: float, before: float) -> bool:
    return spent > FLOOR_S and spent / max(before, FLOOR_S / 100) > longer**STEEPEST


def _seconds(run: Callable[[str], object], text: str) -> float:
    gc.disable()
    try:
        start = time.thread_time()
        run(text)
        return time.thread_time() - start
    finally:
        gc.enable()


def _use(pattern: Any, text: str) -> None:
    """As the package may: looked for everywhere, and held against the whole."""
    content = text.encode("utf-8") if isinstance(pattern.pattern, bytes) else text
    deque(pattern.finditer(content), maxlen=0)
    pattern.fullmatch(content)


def weakness(found: Found, attack: Attack, lengths: Sequence[int]) -> str:
    """Where an attack hurts, as a line to read; nothing where it does not."""

    def run(text: str) -> None:
        _use(found.pattern, text)

    length = slow_at(run, attack, (*SHORT, *lengths))
    return f"{found.location} {attack} from {length} characters on: {found.pattern.pattern}" if length else ""
