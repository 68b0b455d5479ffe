"""What docs/architecture.md says of the folders is what pyproject.toml holds them to."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PICTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def contract() -> list[set[str]]:
    """The layers, from the one that imports the others; what starts the program is in no picture."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    [one_way] = [
        each for each in settings["tool"]["importlinter"]["contracts"] if each.get("containers") == ["cc_bot"]
    ]
    layers = [set(layer.split(" | ")) for layer in one_way["layers"]]
    return [layer for layer in layers if layer != {"__main__"}]


class TestThePicture:
    def test_has_the_layers_of_the_contract_in_their_order(self) -> None:
        [line] = re.findall(r"^    (cli -> .*)$", PICTURE, re.MULTILINE)
        assert [set(re.findall(r"\w+", layer)) for layer in line.split(" -> ")] == contract()

    def test_tells_of_each_module_what_belongs_there(self) -> None:
        table = "".join(re.findall(r"^\| (`.*?) \|", PICTURE, re.MULTILINE))
        assert set.union(*contract()) <= set(re.findall(r"`(\w+)(?:/|\.py)`", table))
