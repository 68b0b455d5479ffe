import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REPORTING = '#!/bin/sh\necho "cc-bot $*"\necho "in $(pwd -P)"\nexit ${STAND_IN_CODE:-0}\n'


def run(command: Sequence[str | Path], cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run with an environment of its own: no token of the developer's, no flags of an outer make."""
    clean: Mapping[str, str] = {"PATH": os.environ["PATH"], "HOME": str(cwd), **environment}
    return subprocess.run(command, cwd=cwd, env=clean, capture_output=True, text=True, check=False)


def program(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(script, encoding="utf-8")
    path.chmod(0o755)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project folder that is set up already: its Python is ours, its cc-bot only reports."""
    folder = tmp_path / "a project"
    needed = "requirements/run.txt", "requirements/build.txt", "scripts/backup.sh"
    for name in ("Makefile", "pyproject.toml", *needed):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    program(folder / ".venv/bin/python", f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    program(folder / ".venv/bin/cc-bot", REPORTING)
    (folder / ".venv/.run-installed").touch()
    return folder


class TestMakeRun:
    @pytest.mark.slow
    def test_starts_discord_with_a_token_and_the_terminal_without_one(self, project: Path) -> None:
        without = run(["make", "run"], project)
        assert (without.stdout.splitlines()[0].rstrip(), "DISCORD_TOKEN" in without.stderr) == (
            "cc-bot chat",
            True,
        )
        assert run(["make", "run"], project, DISCORD_TOKEN="t").stdout.startswith("cc-bot run")
        for line, started in {
            "DISCORD_TOKEN=t": "run",
            "export DISCORD_TOKEN = 't' # mine": "run",
            "DISCORD_TOKEN=''": "chat",
            "# DISCORD_TOKEN=t": "chat",
        }.items():
            (project / ".env").write_text(f"# 設定\n{line}\n", encoding="utf-8")
            assert run(["make", "run"], project).stdout.startswith(f"cc-bot {started}"), line
        assert run(["make", "run"], project, STAND_IN_CODE="2").returncode != 0
        later = (project / ".venv/.run-installed").stat().st_mtime + 1
        os.utime(project / "requirements/run.txt", (later, later))
        assert "--require-hashes" in run(["make", "--dry-run", "run"], project).stdout


def test_the_script_for_backups_works_from_anywhere_and_is_loud_when_it_fails(
    project: Path, tmp_path: Path
) -> None:
    script = project / "scripts/backup.sh"
    (tmp_path / "cc-bot-backup").symlink_to(script)
    for each in (script, tmp_path / "cc-bot-backup"):
        told = run([each, "--to", "two words"], tmp_path).stdout.splitlines()
        assert told == ["cc-bot backup --to two words", f"in {project.resolve()}"]
    failed = run([script], tmp_path, STAND_IN_CODE="3")
    assert (failed.returncode, "THE BACKUP IS NOT AS IT SHOULD BE" in failed.stderr) == (3, True)

    shutil.rmtree(project / ".venv")
    program(tmp_path / "bin/cc-bot", REPORTING)
    installed = run([script], tmp_path, PATH=f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    assert (installed.returncode, installed.stdout.splitlines()[0]) == (0, "cc-bot backup")
    without = run([script], tmp_path, PATH=os.pathsep.join(["/usr/bin", "/bin"]))
    assert (without.returncode, "make run" in without.stderr) == (127, True)
