import argparse
import asyncio
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from bench.figures import save

PARTS = {
    "turn": "bench.turn_peers",
    "ask": "bench.ask_peers",
    "recall": "bench.recall_peers",
    "engines": "bench.engines",
    "base": "bench.base",
    "model": "bench.model_layer",
}
FIGURES = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.json"


def run_part(name: str) -> None:
    """Measure one part in this process, print its lines and keep them."""
    with TemporaryDirectory() as folder:
        lines = asyncio.run(import_module(PARTS[name]).measure(Path(folder)))
    print(*lines, sep="\n", flush=True)
    save(FIGURES, name, lines)


def run_parts(names: list[str]) -> int:
    """Measure the parts one after another, each in a process of its own, and write the report."""
    failed = 0
    for name in names:
        began = monotonic()
        print(f"==> {name}", flush=True)
        failed |= subprocess.run([sys.executable, "-m", "bench", "--here", name], check=False).returncode
        print(f"    {monotonic() - began:.0f} s", flush=True)
    report = import_module("bench.report")
    report.write(FIGURES)
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench", description="figures beside peers")
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="all of them when none is named")
    parser.add_argument("--here", choices=PARTS, help="one part, in this process, without the report")
    chosen = parser.parse_args()
    if chosen.here:
        run_part(chosen.here)
        return 0
    return run_parts(chosen.parts or list(PARTS))


if __name__ == "__main__":
    sys.exit(main())
