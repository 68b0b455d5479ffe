import gc
import os
import random
import shutil
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import freezegun
import pytest
from hypothesis import settings

from tests.certificates import TRUSTED
from tests.databases import DatabaseSettings, laid_out

# A property is about what comes out, not about how long it takes on a machine that does other things too.
settings.register_profile("cc-bot", deadline=None, max_examples=50)
settings.register_profile("thorough", deadline=None, max_examples=200)
settings.load_profile("cc-bot")
os.environ["SSL_CERT_DIR"] = TRUSTED
freezegun.configure(extend_ignore_list=["_pytest"])  # how long a test takes is real

IN_ORDER_OF_FILES = 0


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--engine", choices=("sqlite", "postgresql"), default="sqlite", help="of the stores")
    parser.addoption(
        "--order-seed",
        type=int,
        metavar="N",
        help=f"repeat the order of an earlier run; {IN_ORDER_OF_FILES}: as they stand in the files",
    )


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out what is about one engine where another one is tested."""
    for engine in ("sqlite", "postgresql"):
        mark = item.get_closest_marker(engine)
        if mark and item.config.option.engine != engine:
            pytest.skip(f"{engine}: {mark.args[0]}")


def pytest_configure(config: pytest.Config) -> None:
    """Choose an order, or take the one of the process that gives out the tests."""
    if config.option.order_seed is None:
        given = getattr(config, "workerinput", {}).get("order_seed")
        config.option.order_seed = given or random.SystemRandom().randrange(1, 10**6)


@pytest.hookimpl(optionalhook=True)  # there is none without xdist
def pytest_configure_node(node: Any) -> None:
    """Hand the order to a worker: of the options it gets those that were typed, and no others."""
    node.workerinput["order_seed"] = node.config.option.order_seed


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect no garbage among what is loaded, neither meanwhile nor later.

    All of it stays to the end, and to look costs a third of the time of loading, in each process.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.fixture
def uncollected() -> Iterator[None]:
    """No garbage is collected meanwhile: what the test lets go of is gone at once or refers to itself."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def pytest_report_header(config: pytest.Config) -> str:
    return f"order of tests: --order-seed {config.option.order_seed}"


SLOW_FOLDERS = frozenset({"loopback", "restored"})
"""Tests of the doubles and of whole restores: all of them are in the second tier."""


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    folder = item.path.relative_to(Path(__file__).parent).parts[0]
    if folder in SLOW_FOLDERS or "browser" in getattr(item, "fixturenames", ()):
        item.add_marker(pytest.mark.slow)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """No test may need another one before it."""
    if config.option.order_seed != IN_ORDER_OF_FILES:
        items[:] = _shuffled(items, _LEVELS, random.Random(config.option.order_seed))


Level = Callable[[pytest.Item], object]
_LEVELS: Sequence[Level] = (
    lambda item: item.path.parent,  # those who share a program and its event loop: it must not wait for long
    lambda item: item.path,
    lambda item: item.parent,
    lambda item: item,
)


def _shuffled(
    items: Sequence[pytest.Item], levels: Sequence[Level], chance: random.Random
) -> list[pytest.Item]:
    if not levels:
        return list(items)
    groups = dict[object, list[pytest.Item]]()
    for item in items:
        groups.setdefault(levels[0](item), []).append(item)
    order = list(groups.values())
    chance.shuffle(order)
    return [item for group in order for item in _shuffled(group, levels[1:], chance)]


@pytest.fixture
def url(request: pytest.FixtureRequest, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Where the test's own database is, with nothing in it yet."""
    if request.config.option.engine == "sqlite":
        return laid_out(tmp_path / "sessions.db")
    from tests.postgres_server import emptied

    return emptied(_folder_of_run(tmp_path_factory))


@pytest.fixture(scope="session")
def database_settings(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> DatabaseSettings:
    if request.config.option.engine == "sqlite":
        return dict
    from tests.postgres_server import another

    return lambda: {"CC_BOT_DATABASE_URL": another(_folder_of_run(tmp_path_factory))}


@pytest.fixture(scope="session")
def database_copy(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str, Path], str]:
    if request.config.option.engine == "sqlite":
        return lambda url, file: f"sqlite:///{shutil.copy(url.removeprefix('sqlite:///'), file)}"
    from tests.postgres_server import copied

    return lambda url, _: copied(_folder_of_run(tmp_path_factory), url)


def _folder_of_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.getbasetemp()
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder
