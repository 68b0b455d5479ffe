"""The pinned requirements: complete, hashed, in step with pyproject.toml, and free of anyone's registry."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RUN, EXTRAS = PYPROJECT["project"]["dependencies"], PYPROJECT["project"]["optional-dependencies"]
PIP, BUILD, DEV, BENCH = (
    [each for each in PYPROJECT["dependency-groups"][group] if isinstance(each, str)]
    for group in ("pip", "build", "dev", "bench")
)
NEEDED = {
    "run.txt": RUN,
    "pip.txt": PIP,
    "build.txt": BUILD,
    **{f"{extra}.txt": [*RUN, *needed] for extra, needed in EXTRAS.items()},
    "dev.txt": [*RUN, *BUILD, *DEV, *(each for needed in EXTRAS.values() for each in needed)],
    "bench.txt": [*RUN, *EXTRAS["postgres"], *DEV, *BENCH],
}


def read(name: str) -> str:
    return (ROOT / "requirements" / name).read_text(encoding="utf-8")


def pins(name: str) -> dict[str, set[str]]:
    """Package -> the pinned versions (more than one when platforms differ)."""
    found: dict[str, set[str]] = {}
    for package, version in re.findall(r"^([\w.-]+)==([^\s;\\]+)", read(name), flags=re.MULTILINE):
        found.setdefault(canonicalize_name(package), set()).add(version)
    return found


@pytest.mark.parametrize("name", [*NEEDED])
class TestPins:
    def test_every_requirement_of_the_project_has_a_pin_that_satisfies_it(self, name: str) -> None:
        pinned = pins(name)
        for line in NEEDED[name]:
            requirement = Requirement(line)
            versions = pinned[canonicalize_name(requirement.name)]
            assert all(requirement.specifier.contains(version) for version in versions), line

    def test_every_line_is_a_pin_or_a_hash(self, name: str) -> None:
        line = re.compile(r"[\w.-]+==[\w.+!-]+( ; [^/@]+?)? \\| {4}--hash=sha256:[0-9a-f]{64}( \\)?")
        assert [each for each in read(name).splitlines() if not line.fullmatch(each)] == []


def test_what_is_tested_is_what_runs_and_nothing_runs_that_only_builds_or_is_heavy() -> None:
    run, dev, build = pins("run.txt"), pins("dev.txt"), pins("build.txt")
    for extra in EXTRAS:
        assert run.items() <= pins(f"{extra}.txt").items() <= dev.items()
    assert build.items() <= dev.items()
    assert not {*build, "numpy", "pypdfium2", "resvg-py", "trafilatura"} & run.keys()
