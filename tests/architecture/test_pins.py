"""The pinned requirements: complete, hashed, in step with pyproject.toml, and free of anyone's registry."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
GROUPS = PYPROJECT["dependency-groups"]

EXTRAS = PYPROJECT["project"]["optional-dependencies"]

NEEDED = {
    "run.txt": PYPROJECT["project"]["dependencies"],
    "build.txt": GROUPS["build"],
    "semantic.txt": [*PYPROJECT["project"]["dependencies"], *EXTRAS["semantic"]],
    "charts.txt": [*PYPROJECT["project"]["dependencies"], *EXTRAS["charts"]],
    "documents.txt": [*PYPROJECT["project"]["dependencies"], *EXTRAS["documents"]],
    "pages.txt": [*PYPROJECT["project"]["dependencies"], *EXTRAS["pages"]],
    "dev.txt": [
        *PYPROJECT["project"]["dependencies"],
        *GROUPS["build"],
        *EXTRAS["semantic"],
        *EXTRAS["charts"],
        *EXTRAS["documents"],
        *EXTRAS["pages"],
        *(g for g in GROUPS["dev"] if isinstance(g, str)),
    ],
    "bench.txt": [
        *PYPROJECT["project"]["dependencies"],
        *EXTRAS["postgres"],
        *(g for g in (*GROUPS["dev"], *GROUPS["bench"]) if isinstance(g, str)),
    ],
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
        pin = re.compile(r"[\w.-]+==[\w.+!-]+( ; [^/@]+?)? \\")
        hash_ = re.compile(r" {4}--hash=sha256:[0-9a-f]{64}( \\)?")
        strange = [
            line for line in read(name).splitlines() if not (pin.fullmatch(line) or hash_.fullmatch(line))
        ]
        assert strange == []


class TestAllFiles:
    def test_the_tools_come_on_top_of_the_versions_that_run(self) -> None:
        run, dev = pins("run.txt"), pins("dev.txt")
        for extra in EXTRAS:
            assert run.items() <= pins(f"{extra}.txt").items() <= dev.items()

    def test_what_only_builds_is_in_no_set_that_runs(self) -> None:
        build = pins("build.txt")
        assert build.items() <= pins("dev.txt").items()
        for name in ("run.txt", "semantic.txt", "documents.txt"):
            assert not build.keys() & pins(name).keys()
        assert build.keys() & pins("charts.txt").keys() <= {"packaging"}  # matplotlib needs it

    def test_what_is_heavy_is_installed_by_its_own_file_alone(self) -> None:
        assert "numpy" in pins("semantic.txt")
        assert "matplotlib" in pins("charts.txt")
        assert "pypdfium2" in pins("documents.txt")
        assert "trafilatura" in pins("pages.txt")
        assert not {"numpy", "matplotlib", "pypdfium2", "trafilatura"} & pins("run.txt").keys()
