"""The seed of everything that is random here: printed, and given again with --seed to see it once more."""

import os
from inspect import iscoroutinefunction
from pathlib import Path
from random import SystemRandom
from typing import Any

import pytest

pytest.register_assert_rewrite("tests.end_to_end.stage", "tests.faults.campaign")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seed", type=int, default=None, help="what the random moments of kills are made of")
    parser.addoption("--minutes", type=float, default=2.0, help="of mixed life, in each way of reading")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.seed is None:
        given = getattr(config, "workerinput", {}).get("faults_seed")
        seed = os.environ.get("FAULTS_SEED") if given is None else given
        config.option.seed = int(seed or SystemRandom().randrange(10**6))


@pytest.hookimpl(optionalhook=True)  # there is none without xdist
def pytest_configure_node(node: Any) -> None:
    """Hand the seed to a worker: of the options it gets those that were typed, and no others."""
    node.workerinput["faults_seed"] = node.config.option.seed


def pytest_report_header(config: pytest.Config) -> str:
    return f"seed of the faults: {config.option.seed}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A program and its doubles live in one event loop."""
    for item in items:
        ours = item.path.is_relative_to(Path(__file__).parent)
        if ours and isinstance(item, pytest.Function) and iscoroutinefunction(item.obj):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest.fixture(scope="session")
def seed(pytestconfig: pytest.Config) -> int:
    number: int = pytestconfig.option.seed
    return number


@pytest.fixture(scope="session")
def minutes(pytestconfig: pytest.Config) -> float:
    return float(pytestconfig.option.minutes)
