"""Every regular expression of the package, and strings that are meant to make one of them run away.

A pattern is found wherever it stands: in a module, a class, a table, a closure, or written into a call. The
strings are made of its own atoms: something that it repeats, many times, after what may stand before it and
before something that it does not take, so that it fails late and tries every other way first.
"""

import ast
import gc
import importlib
import pkgutil
import random
import re
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from math import inf
from pathlib import Path
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any, Final

import regex  # type: ignore[import-untyped]  # its stubs are not among the dependencies

import cc_bot
from cc_bot.domain.phrase import Phrase, TookTooLong, time_for_phrases

_parser: Final[Any] = importlib.import_module("re._parser")
_CALLS: Final = {
    *("compile", "match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"),
}
_CONTAINERS: Final = (dict, list, tuple, set, frozenset, MappingProxyType)
_STAND_IN: Final = "7"
"""For what only a call knows: an id, a name."""
_OTHER_SYNTAX: Final = (
    ("\\X", "."),
    ("\\p{M}", "\\u0301"),
    ("\\p{Han}", "漢"),
    ("\\p{Hiragana}", "あ"),
    ("\\p{Extended_Pictographic}", "😀"),
    ("\\p{Regional_Indicator}", "🇯"),
)
"""What `regex` knows and `re` does not, and what it may match. Only strings are made of it."""


@dataclass(frozen=True, slots=True)
class Found:
    """A pattern and where it stands."""

    place: str
    pattern: Any
    """Of `re` or of `regex`, or a Phrase."""


# ---- where they stand ------------------------------------------------------------------------------------


@cache
def modules() -> tuple[ModuleType, ...]:
    """All modules of the package, imported."""
    names = [found.name for found in pkgutil.walk_packages(cc_bot.__path__, "cc_bot.")]
    return tuple(importlib.import_module(name) for name in names if not name.endswith("__main__"))


@cache
def compiled() -> tuple[Found, ...]:
    """Every compiled pattern that a module can reach, and each that is written into a call."""
    found = {(each.pattern.pattern, each.pattern.flags): each for each in (*_written(), *_kept())}
    return tuple(found.values())


def _kept() -> Iterator[Found]:
    seen = set[int]()
    for module in modules():
        waiting = deque((name, value) for name, value in vars(module).items() if name != "__builtins__")
        while waiting:
            name, value = waiting.popleft()
            if id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, re.Pattern | regex.Pattern | Phrase):
                yield Found(f"{module.__name__}.{name}", value)
            elif _is_ours(value, module) or isinstance(value, _CONTAINERS):
                waiting.extend((name, inner) for inner in gc.get_referents(value))


def _is_ours(value: object, module: ModuleType) -> bool:
    """Whether it may lead to more of the module's patterns: a function or class of it, or any object of the
    package."""
    if isinstance(value, ModuleType):
        return False
    if type(value).__name__ == "cell" or isinstance(value, property | staticmethod | classmethod):
        return True
    if isinstance(value, type | FunctionType):
        return value.__module__ == module.__name__
    return str(type(value).__module__).startswith("cc_bot")


def _written() -> Iterator[Found]:
    for place, known, call in _calls():
        written = _pattern_of(call, known)
        if isinstance(written, str | bytes):
            make: Callable[[Any, int], Any] = regex.compile if _module_of(call) == "regex" else re.compile
            yield Found(place, make(written, _flags_of(call, known)))


def unknown() -> set[str]:
    """The calls whose pattern only a run knows: module and what is written there."""
    return {
        f"{place.partition(':')[0]}: {ast.unparse(call)}"
        for place, known, call in _calls()
        if _pattern_of(call, known) is None
    }


def _calls() -> Iterator[tuple[str, Mapping[str, Any], ast.Call]]:
    """Where patterns are handed on: the place, the names that are known there, and the call."""
    for module in modules():
        path = Path(str(module.__file__))
        tree = ast.parse(path.read_text("utf-8"))
        defaults = _defaults(tree, vars(module))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and _module_of(node) and node.args:
                yield f"{module.__name__}:{node.lineno}", vars(module) | defaults.get(node, {}), node


def _defaults(tree: ast.AST, names: Mapping[str, Any]) -> dict[ast.AST, dict[str, Any]]:
    """What the parameters of the function around a node are where nobody says otherwise."""
    found: dict[ast.AST, dict[str, Any]] = {}
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and function.args.defaults:
            parameters = (*function.args.posonlyargs, *function.args.args)
            last = parameters[-len(function.args.defaults) :]
            known = {
                parameter.arg: _value(written, names)
                for parameter, written in zip(last, function.args.defaults, strict=True)
            }
            found |= dict.fromkeys(ast.walk(function), known)
    return found


def _module_of(call: ast.Call) -> str:
    match call.func:
        case ast.Attribute(value=ast.Name(id="re" | "regex" as name), attr=function) if function in _CALLS:
            return name
        case _:
            return ""


def _pattern_of(call: ast.Call, known: Mapping[str, Any]) -> Any:
    """What stands there, as far as these names tell; None where they do not."""
    argument = call.args[0]
    if not isinstance(argument, ast.JoinedStr):
        return _value(argument, known)
    parts = [part.value if isinstance(part, ast.Constant) else _part(part, known) for part in argument.values]
    return "".join(map(str, parts))


def _part(part: ast.expr, known: Mapping[str, Any]) -> object:
    value = _value(part.value, known) if isinstance(part, ast.FormattedValue) else None
    return _STAND_IN if value is None else value


def _value(written: ast.expr, known: Mapping[str, Any]) -> Any:
    try:
        return eval(compile(ast.Expression(written), "<pattern>", "eval"), dict(known))
    except NameError:
        return None


def _flags_of(call: ast.Call, known: Mapping[str, Any]) -> int:
    named = [word.value for word in call.keywords if word.arg == "flags"]
    beside = call.args[1:2] if getattr(call.func, "attr", "") == "compile" else []
    return sum(int(_value(flags, known)) for flags in (*named, *beside))


# ---- strings of a pattern's own atoms --------------------------------------------------------------------

_ANYTHING: Final = "aあ1 -漢ア`*\n"
_TAILS: Final = ("", "\x00", "!", "\n", "x", "あ", " ", "9")


@dataclass(frozen=True, slots=True)
class Attack:
    """`before`, then something many times, then `after`."""

    before: str
    pump: str
    after: str

    def text(self, length: int) -> str:
        """About so many characters."""
        return f"{self.before}{self.pump * max(2, length // len(self.pump))}{self.after}"


def attacks(pattern: Any, seed: int, count: int) -> list[Attack]:
    """So many of them at most, those that are known to hurt first; the same ones for the same seed."""
    rng = random.Random(f"{seed} {pattern.pattern!r}")
    tree = _tree(pattern)
    wholes = [_sample(tree, rng) for _ in range(6)]
    heads = list(_repeats(tree, "", rng))
    atoms = list(dict.fromkeys(_atoms(tree)))
    rng.shuffle(atoms)
    tails = [*_TAILS, *(whole[-1:] for whole in wholes)]
    first = [
        Attack(before, pump, rng.choice(tails[:2]))
        for before, pumps in heads
        for pump in pumps
        for before in ("", before)
    ]
    rng.shuffle(first)
    begun = [Attack("", pump, "\x00") for before, pumps in heads for pump in (before, before + pumps[0])]
    rng.shuffle(begun)  # what begins again and again and never ends
    second = [Attack("", atom, tail) for atom in (" ", *atoms[:40]) for tail in ("", "\x00")]
    third = [Attack("", cut, "\x00") for whole in wholes for cut in (whole, whole[:-1]) if cut]
    best = (*begun[: count // 2], *third[:2], *first[: count // 3], *second[: count // 4], *third)
    chosen = [each for each in best if each.pump]
    while len(chosen) < count:
        pump = rng.choice(_pumps(heads, atoms, wholes, rng))
        chosen.append(Attack(rng.choice(["", *wholes, *(h for h, _ in heads)]), pump, rng.choice(tails)))
    return list(dict.fromkeys(chosen))[:count]


def _pumps(
    heads: Sequence[tuple[str, list[str]]], atoms: Sequence[str], wholes: Sequence[str], rng: random.Random
) -> list[str]:
    repeated = [pump for _, pumps in heads for pump in pumps]
    pairs = ["".join(rng.choices([*atoms, " "], k=rng.randint(2, 3))) for _ in range(4)]
    return [pump for pump in (*repeated[:8], *pairs, *wholes, rng.choice([*repeated, " "])) if pump]


def _tree(pattern: Any) -> Any:
    """As `re` parses it; characters are what matters here, so that of the flags those count that change the
    way in which a pattern is written."""
    written = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    if isinstance(pattern, regex.Pattern):
        for theirs, ours in _OTHER_SYNTAX:
            written = written.replace(theirs, ours)
    return _parser.parse(written, pattern.flags & re.VERBOSE)


def _sample(items: Any, rng: random.Random) -> str:
    """Something that it may match."""
    return "".join(_sample_one(str(op), value, rng) for op, value in items)


def _sample_one(op: str, value: Any, rng: random.Random) -> str:
    match op:
        case "LITERAL":
            return chr(value)
        case "NOT_LITERAL":
            return rng.choice([each for each in _ANYTHING if each != chr(value)])
        case "ANY":
            return rng.choice(_ANYTHING)
        case "IN":
            return rng.choice(_members(value))
        case "BRANCH":
            return _sample(rng.choice(value[1]), rng)
        case "SUBPATTERN":
            return _sample(value[3], rng)
        case "ATOMIC_GROUP":
            return _sample(value, rng)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            times = rng.randint(value[0], max(value[0], min(int(value[1]), value[0] + 2)))
            return "".join(_sample(value[2], rng) for _ in range(times))
        case "ASSERT" if value[0] > 0 and rng.random() < 0.5:
            return _sample(value[1], rng)
        case _:
            return ""


_CATEGORIES: Final = {
    "CATEGORY_SPACE": " \n　",
    "CATEGORY_DIGIT": "09",
    "CATEGORY_WORD": "a_漢7",
    "CATEGORY_NOT_SPACE": "a漢",
    "CATEGORY_NOT_DIGIT": "a あ",
    "CATEGORY_NOT_WORD": " -、",
}


def _members(members: Any) -> str:
    """Some characters of a class."""
    found = "".join(map(_some, members))
    if str(members[0][0]) != "NEGATE":
        return found
    return "".join(each for each in _ANYTHING + "z!" if not _is_in(each, members)) or "\x01"


def _some(member: tuple[Any, Any]) -> str:
    match str(member[0]):
        case "LITERAL":
            return chr(member[1])
        case "RANGE":
            return "".join(map(chr, member[1]))
        case "CATEGORY":
            return _CATEGORIES[str(member[1])]
        case _:
            return ""


def _is_in(character: str, members: Any) -> bool:
    ranges = [value for op, value in members if str(op) == "RANGE"]
    return character in "".join(map(_some, members)) or any(
        low <= ord(character) <= high for low, high in ranges
    )


def _inner(op: str, value: Any) -> Sequence[Any]:
    """The patterns inside a part."""
    match op:
        case "BRANCH":
            found: Sequence[Any] = value[1]
            return found
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


def _repeats(items: Any, before: str, rng: random.Random) -> Iterator[tuple[str, list[str]]]:
    """For each part that may stand there many times: what may stand before it, and some of what it takes."""
    for op, value in items:
        if str(op).endswith("REPEAT") and value[1] > 8:
            yield before, list(dict.fromkeys(_sample(value[2], rng) for _ in range(8)))
        for inner in _inner(str(op), value):
            yield from _repeats(inner, before, rng)
        before += _sample_one(str(op), value, rng)


def _atoms(items: Any) -> Iterator[str]:
    """Characters and words that it is written with."""
    word = ""
    for op, value in items:
        if str(op) == "LITERAL":
            word += chr(value)
            continue
        yield from filter(None, (word[:1], word))
        word = ""
        if str(op) == "IN":
            yield from _members(value)[:6]
        for inner in _inner(str(op), value):
            yield from _atoms(inner)
    yield from filter(None, (word[:1], word))


# ---- whether one of them hurts ---------------------------------------------------------------------------

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
    """Whether it took out of proportion more than a text of at most a quarter of its size."""
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
    """Of this thread's own processor time: what others do on this machine does not count, nor does looking
    through all that other tests have left in memory, which comes when it wants to."""
    gc.disable()
    try:
        start = time.thread_time()
        run(text)
        return time.thread_time() - start
    finally:
        gc.enable()


LITTLE_S: Final = 0.02
"""That a Phrase is given in these tests: what shows that it ends shows it with less as well."""


def use(pattern: Any) -> Callable[[str], object]:
    """A pattern as the package may use it: looked for everywhere, and held against the whole."""
    if isinstance(pattern, Phrase):
        return lambda text: _use_phrase(pattern, text)
    if isinstance(pattern.pattern, bytes):
        return lambda text: _use_all(pattern, text.encode("utf-8"))
    return lambda text: _use_all(pattern, text)


def _use_all(pattern: Any, text: str | bytes) -> None:
    deque(pattern.finditer(text), maxlen=0)
    pattern.fullmatch(text)


def _use_phrase(phrase: Phrase, text: str) -> None:
    for look in (phrase.finditer, phrase.fullmatch):
        with suppress(TookTooLong), time_for_phrases(LITTLE_S):
            look(text)


def weakness(found: Found, attack: Attack, lengths: Sequence[int]) -> str:
    """Where an attack hurts, as a line to read; nothing where it does not.

    What a Phrase takes may grow as it likes until its limit: it is held against that alone.
    """
    run = use(found.pattern)
    if isinstance(found.pattern, Phrase):
        text = attack.text(lengths[-1])
        endless = all(_seconds(run, text) > 10 * LITTLE_S for _ in range(3))
        return f"{found.place} {attack} does not end" if endless else ""
    length = slow_at(run, attack, (*SHORT, *lengths))
    return f"{found.place} {attack} from {length} characters on: {found.pattern.pattern}" if length else ""
