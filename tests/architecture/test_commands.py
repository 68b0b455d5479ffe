"""The commands outside Python, `make run` and `scripts/backup.sh`, with a cc-bot that only reports.

The stand-in is a shell script where the real program would be installed; make and sh are the real ones.
"""

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

    def test_the_exit_code_of_the_program_is_not_lost(self, project: Path) -> None:
        assert run(["make", "run"], project, STAND_IN_CODE="2").returncode != 0

    def test_a_python_that_is_too_old_is_refused_by_name(self, project: Path) -> None:
        program(project / "old-python", '#!/bin/sh\n[ "$1" = --version ] && echo Python 3.9.2\nexit 1\n')
        result = run(["make", "run", "VENV=new", "PYTHON=./old-python"], project)
        assert result.returncode != 0
        assert "3.11 or newer" in result.stderr
        assert "Python 3.9.2" in result.stderr
        assert not (project / "new").exists()

    def test_installs_new_pins_and_otherwise_nothing(self, project: Path) -> None:
        assert "install" not in run(["make", "--dry-run", "run"], project).stdout
        later = (project / ".venv/.run-installed").stat().st_mtime + 1
        os.utime(project / "requirements/run.txt", (later, later))
        assert "--require-hashes" in run(["make", "--dry-run", "run"], project).stdout

    def test_an_environment_whose_python_is_gone_is_made_anew(self, project: Path) -> None:
        (project / ".venv/bin/python").unlink()
        plan = run(["make", "--dry-run", "run"], project).stdout
        assert plan.index("-m venv") < plan.index("--require-hashes") < plan.index("cc-bot chat")


class TestBackupScript:
    def test_it_works_from_any_folder_and_through_a_link_and_hands_every_argument_on(
        self, project: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "cc-bot-backup").symlink_to(project / "scripts/backup.sh")
        for script in (project / "scripts/backup.sh", tmp_path / "cc-bot-backup"):
            result = run([script, "--to", "two words"], tmp_path)
            assert result.stdout.splitlines() == ["cc-bot backup --to two words", f"in {project.resolve()}"]

    def test_a_failure_is_loud_and_keeps_its_exit_code(self, project: Path, tmp_path: Path) -> None:
        result = run([project / "scripts/backup.sh"], tmp_path, STAND_IN_CODE="3")
        assert result.returncode == 3
        assert "THE BACKUP IS NOT AS IT SHOULD BE" in result.stderr

    def test_without_an_environment_the_installed_program_is_used(
        self, project: Path, tmp_path: Path
    ) -> None:
        shutil.rmtree(project / ".venv")
        program(tmp_path / "bin/cc-bot", REPORTING)
        path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
        result = run([project / "scripts/backup.sh"], tmp_path, PATH=path)
        assert (result.returncode, result.stdout.splitlines()[0]) == (0, "cc-bot backup")

    def test_without_any_program_it_says_how_to_get_one(self, project: Path, tmp_path: Path) -> None:
        shutil.rmtree(project / ".venv")
        system = os.pathsep.join(["/usr/bin", "/bin"])
        result = run([project / "scripts/backup.sh"], tmp_path, PATH=system)
        assert result.returncode == 127
        assert "make run" in result.stderr
