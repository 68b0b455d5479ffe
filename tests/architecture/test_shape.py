"""The shape of the classes and files: what a reader meets has few parts, a name of its own, and a home.

Each list of exceptions is exact: what is mended goes from it, and nothing is added without a reason.
"""

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain
from pathlib import PurePosixPath
from typing import Final

from tests.architecture.test_layout import ROOT, modules

Sources = Mapping[PurePosixPath, str]

MOST_PARTS: Final = 8
SHORT: Final = 80
"""Lines of a module that should live with the one neighbour that uses it, were it not for a reason."""

MANY_PARTS: Final = {
    "app/core.py: Core": "a record: one field a part that front ends need",
    "stores/__init__.py: Stores": "a record: one field a store",
}
"""What is still put together of more, each with what mends it."""

ROOMS_OF_THEIR_OWN: Final[Mapping[str, str]] = {}
"""Short modules that a single neighbour uses, and why they stand alone."""

SHARED_NAMES: Final = frozenset[str]()
"""Names that several public classes have."""


@cache
def package() -> Sources:
    return {path: (ROOT / path).read_text("utf-8") for path in modules()}


@cache
def parsed(source: str) -> ast.Module:
    return ast.parse(source)


def classes(sources: Sources) -> Iterator[tuple[PurePosixPath, ast.ClassDef]]:
    for path, source in sources.items():
        for node in parsed(source).body:
            if isinstance(node, ast.ClassDef):
                yield path, node


def acts(node: ast.ClassDef) -> bool:
    """Whether it does something and is more than a value: a method of it can be awaited."""
    return any(isinstance(each, ast.AsyncFunctionDef) for each in node.body)


def parts(node: ast.ClassDef) -> list[ast.expr | None]:
    """The annotations of what it is constructed with."""
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and each.name == "__init__":
            return [
                argument.annotation
                for argument in chain(each.args.posonlyargs, each.args.args, each.args.kwonlyargs)
                if argument.arg != "self"
            ]
    if not any("dataclass" in ast.unparse(each) for each in node.decorator_list):
        return []
    return [
        each.annotation
        for each in node.body
        if isinstance(each, ast.AnnAssign)
        and "ClassVar" not in ast.unparse(each.annotation)
        and "init=False" not in ast.unparse(each)
        and "default_factory" not in ast.unparse(each)
    ]


def of_many_parts(sources: Sources) -> dict[str, int]:
    """Classes that act, with more than so many parts; and records, of which so many parts act.

    So settings, a row of a table and every other value may have as many fields as there are.
    """
    acting = {node.name for _, node in classes(sources) if acts(node)} | {"Callable", "Clock"}
    found = {}
    for path, node in classes(sources):
        given = parts(node)
        named = [{n.id for n in ast.walk(each) if isinstance(n, ast.Name)} for each in given if each]
        counted = len(given) if acts(node) else sum(bool(names & acting) for names in named)
        if counted > MOST_PARTS:
            found[f"{path.relative_to('cc_bot')}: {node.name}"] = counted
    return found


def imported(path: PurePosixPath, sources: Sources) -> set[PurePosixPath]:
    """The modules of the package that a module imports, wherever in it."""
    found = set()
    for node in ast.walk(parsed(sources[path])):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        found |= {PurePosixPath(*name.split(".")).with_suffix(".py") for name in names}
    return found & sources.keys()


def short_rooms(sources: Sources) -> dict[str, str]:
    """Short modules that nobody but one neighbour in their folder imports, and that neighbour.

    What a package's `__init__` gathers is no such module: there it is the list that is short.
    """
    users = dict[PurePosixPath, set[PurePosixPath]]()
    for path in sources:
        for each in imported(path, sources):
            users.setdefault(each, set()).add(path)
    return {
        str(path.relative_to("cc_bot")): user.stem
        for path, source in sources.items()
        for user in list(users.get(path, ()))[:1]
        if len(users[path]) == 1 and user.parent == path.parent and user.stem != "__init__"
        if len(source.splitlines()) < SHORT
    }


def shared_names(sources: Sources) -> set[str]:
    """Names of more than one public class."""
    names = Counter(node.name for _, node in classes(sources) if not node.name.startswith("_"))
    return {name for name, count in names.items() if count > 1}


def frozen_though_they_act(sources: Sources) -> set[str]:
    """Classes that promise to be values, and can be awaited."""
    return {
        f"{path.relative_to('cc_bot')}: {node.name}"
        for path, node in classes(sources)
        if acts(node) and any("frozen=True" in ast.unparse(each) for each in node.decorator_list)
    }


class TestClass:
    def test_that_acts_is_no_value(self) -> None:
        assert frozen_though_they_act(package()) == set()

    def test_that_acts_and_is_frozen_is_named(self) -> None:
        text = "@dataclass(frozen=True)\nclass {}:\n    at: int\n    {}def run(self): ...\n"
        sources = {PurePosixPath("cc_bot/a.py"): text.format("Acting", "async ") + text.format("Value", "")}
        assert frozen_though_they_act(sources) == {"a.py: Acting"}

    def test_is_made_of_few_parts(self) -> None:
        assert of_many_parts(package()).keys() == MANY_PARTS.keys()

    def test_of_too_many_parts_is_named(self) -> None:
        fields = "".join(f"    p{number}: int\n" for number in range(MOST_PARTS + 1))
        value = f"@dataclass(frozen=True)\nclass Value:\n{fields}"
        acting = f"@dataclass\nclass Acting:\n{fields}    async def run(self): ...\n"
        arguments = ", ".join(f"p{number}: Acting" for number in range(MOST_PARTS + 1))
        record = f"class Record:\n    def __init__(self, {arguments}): ...\n"
        sources = {PurePosixPath("cc_bot/a.py"): f"{value}\n{acting}\n{record}"}
        assert of_many_parts(sources) == {"a.py: Acting": MOST_PARTS + 1, "a.py: Record": MOST_PARTS + 1}

    def test_has_a_name_of_its_own(self) -> None:
        assert shared_names(package()) == SHARED_NAMES

    def test_whose_name_another_has_is_named(self) -> None:
        one, other = "class Line: ...\nclass _Own: ...\n", "class Line: ...\nclass _Own: ...\n"
        sources = {PurePosixPath("cc_bot/a.py"): one, PurePosixPath("cc_bot/b.py"): other + "\n"}
        assert shared_names(sources) == {"Line"}


class TestModule:
    def test_is_not_apart_from_its_one_neighbour_only_to_be_short(self) -> None:
        assert short_rooms(package()).keys() == ROOMS_OF_THEIR_OWN.keys()

    def test_that_is_apart_only_to_be_short_is_named(self) -> None:
        sources = {
            PurePosixPath("cc_bot/a/noun.py"): "from cc_bot.a import piece\nfrom cc_bot.a.shared import x\n",
            PurePosixPath("cc_bot/a/other.py"): "from cc_bot.a.shared import x\n",
            PurePosixPath("cc_bot/a/piece.py"): "x = 1\n",
            PurePosixPath("cc_bot/a/shared.py"): "x = 1\n",
            PurePosixPath("cc_bot/b/long.py"): "x = 1\n" * SHORT,
            PurePosixPath("cc_bot/b/user.py"): "import cc_bot.b.long\n",
        }
        assert short_rooms(sources) == {"a/piece.py": "noun"}
