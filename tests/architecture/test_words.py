"""The words of the package: a docstring begins with what it is about, and what acts has a verb for a name.

A docstring begins with a verb in the imperative ("Return", "Store") or with the noun that the value is ("The
newest page"). No program can tell a verb from a noun, but some words are neither, and those open the
sentences that a reader has to read twice: "What needs no looking for." The same with names: `noted` may be
what was noted, or may note it.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from tests.architecture.test_shape import Sources, package, parsed

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
Function = ast.FunctionDef | ast.AsyncFunctionDef

_NEITHER: Final = """
    what whether how where when who whose whom which why whoever whatever wherever whenever that this
    these those such it its they their there here he she we you all any both each either every everybody
    everyone everything everywhere few many most much neither nobody none nothing nowhere one several some
    somebody someone something about above after against among around as at before behind below beneath
    beside besides between beyond by during for from in inside into like of off on out outside over since
    through till to toward towards under until up upon with within without always also and but either
    first if just last likewise meanwhile never no not now once only or otherwise so still then thus
    raises returns returned
"""
NEITHER: Final = frozenset(_NEITHER.split())
"""Words that are no verb and no noun, and "Raises": what a function raises it says after what it does."""

_IRREGULAR: Final = """
    begun bought brought built chosen done drawn fallen felt found given gone grown heard held hidden kept
    laid left lost made meant met paid said seen sent shown spent spoken stolen stood taken thought told
    understood undone withdrawn won written
"""
IRREGULAR: Final = frozenset(_IRREGULAR.split())
NO_PARTICIPLES: Final = frozenset({"bring", "embed", "exceed", "feed", "need", "ping", "proceed", "seed"})
PARTICLE: Final = re.compile(
    r"(?:apart|as|at|before|by|down|elsewhere|for|from|in|of|on|out|since|the|to|up)(?:_|$)"
)


def first_word(docstring: str) -> str:
    return re.sub(r"\W+$", "", docstring.split(maxsplit=1)[0].lower())


def documented(node: ast.AST, name: str = "") -> Iterator[tuple[str, Documented]]:
    """The module, classes and functions in it, each with the name by which one finds it."""
    if isinstance(node, Documented):
        name = name if isinstance(node, ast.Module) else f"{name}.{node.name}".lstrip(".")
        yield name, node
    for child in ast.iter_child_nodes(node):
        yield from documented(child, name)


def begins_badly(sources: Sources) -> set[str]:
    """Docstrings whose first word is neither a verb nor a noun."""
    return {
        f"{path.relative_to('cc_bot')}: {name or 'the module'}: {docstring.splitlines()[0]}"
        for path, source in sources.items()
        for name, node in documented(parsed(source))
        if (docstring := ast.get_docstring(node)) and first_word(docstring) in NEITHER
    }


def is_participle(name: str) -> bool:
    """Return whether a name is `noted` or `noted_in`; `_noted_rows` is a noun, and says of which rows."""
    word, _, rest = name.strip("_").partition("_")
    ends = word in IRREGULAR or (word not in NO_PARTICIPLES and word.endswith(("ed", "ing")))
    return ends and (not rest or PARTICLE.match(rest) is not None)


def acts(node: Function) -> bool:
    """Return whether it does something: it can be awaited, or gives nothing back.

    What is opened with `with` is no such function: `running()` is what goes on within, as in contextlib's
    `closing`.
    """
    if any(
        "contextmanager" in ast.unparse(each) or ast.unparse(each) == "property"
        for each in node.decorator_list
    ):
        return False
    gives_nothing = isinstance(node.returns, ast.Constant) and node.returns.value is None
    return isinstance(node, ast.AsyncFunctionDef) or gives_nothing


def named_by_participles(sources: Sources) -> set[str]:
    """Functions that act and whose name does not say what they do."""
    return {
        f"{path.relative_to('cc_bot')}: {name}"
        for path, source in sources.items()
        for name, node in documented(parsed(source))
        if isinstance(node, Function) and is_participle(node.name) and acts(node)
    }


class TestDocstring:
    def test_begins_with_a_verb_or_a_noun(self) -> None:
        assert begins_badly(package()) == set()

    def test_that_begins_with_another_word_is_named(self) -> None:
        source = '"""Where things are."""\n'
        source += 'class Kept:\n    """What is kept."""\n    def read(self):\n        """Return it."""\n'
        source += 'async def outer():\n    """A page."""\n    def inner():\n        """Raises OSError."""\n'
        assert begins_badly({PurePosixPath("cc_bot/a/b.py"): source}) == {
            "a/b.py: the module: Where things are.",
            "a/b.py: Kept: What is kept.",
            "a/b.py: outer.inner: Raises OSError.",
        }


class TestName:
    def test_of_what_acts_is_no_participle(self) -> None:
        assert named_by_participles(package()) == set()

    def test_that_is_a_participle_is_named(self) -> None:
        source = "def noted(self) -> None: ...\nasync def shown_in(): ...\n"
        source += "class A:\n    async def _told(self): ...\n    async def told_rows(self): ...\n"
        source += "def noted_too(self) -> int: ...\nasync def embed(self): ...\n"
        source += "@asynccontextmanager\nasync def running(): ...\n"
        assert named_by_participles({PurePosixPath("cc_bot/a.py"): source}) == {
            *("a.py: noted", "a.py: shown_in", "a.py: A._told"),
        }
