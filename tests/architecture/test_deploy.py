"""The files of deploy/ and of CI: what they promise about the program, held against the program.

Docker itself is on no machine of ours. Where systemd is there, its own checker reads the units as well.
"""

import re
from collections import defaultdict
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from cc_bot.app.core import SUMMARY_DRAIN_S
from cc_bot.app.watchdog import LOOP_TIMEOUT_S, SHUTDOWN_TIMEOUT_S
from cc_bot.discord.bot import DRAIN_S, SHOW_CUT_TURNS_S
from tests.architecture.test_layout import ROOT, VARIABLE

DEPLOY: Final = ROOT / "deploy"
LONGEST_STOP_S: Final = DRAIN_S + SHOW_CUT_TURNS_S + SUMMARY_DRAIN_S
UNITS: Final = ("cc-bot.service", "cc-bot@.service", "cc-bot-backup.service")
SWITCHES: Final = ("NoNewPrivileges", "ProtectHome", "PrivateTmp", "PrivateDevices", "RestrictNamespaces")
WORKFLOWS: Final = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def read(name: str) -> str:
    return (DEPLOY / name).read_text("utf-8")


def unit(name: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for line in read(name).splitlines():
        if "=" in line and not line.startswith("#"):
            key, value = line.split("=", 1)
            found[key].append(value)
    return found


def services(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(read(name))["services"]
    return found


def seconds(text: str) -> float:
    return float(text.removesuffix("s"))


class TestUnit:
    @pytest.mark.parametrize("name", UNITS)
    def test_takes_away_what_a_bot_does_not_need(self, name: str) -> None:
        found = unit(name)
        assert (found["User"], found["UMask"]) == (["cc-bot"], ["0077"])
        assert (found["CapabilityBoundingSet"], found["ProtectSystem"]) == ([""], ["strict"])
        assert [found[switch] for switch in SWITCHES] == [["yes"]] * len(SWITCHES)
        assert found["SystemCallFilter"] == ["@system-service", "~@privileged"]

    def test_gives_the_program_and_each_shard_the_time_that_they_take_and_the_backup_no_network(self) -> None:
        found = unit("cc-bot.service")
        assert seconds(found["TimeoutStopSec"][0]) > LONGEST_STOP_S + 5
        assert LONGEST_STOP_S < SHUTDOWN_TIMEOUT_S < 15
        assert found["TimeoutStartSec"] == ["infinity"]  # a migration
        assert (found["Type"], found["Restart"]) == (["notify"], ["on-failure"])
        assert not {"SuccessExitStatus", "RestartPreventExitStatus"} & found.keys()
        assert seconds(found["WatchdogSec"][0]) > LOOP_TIMEOUT_S + 5  # the program's own record comes first
        backup = unit("cc-bot-backup.service")
        assert (found["Environment"], backup["PrivateNetwork"]) == (backup["Environment"], ["yes"])
        apart = {"Description", "ExecStart", "EnvironmentFile", "Environment"}
        one, shard = ({key: unit(name)[key] for key in unit(name).keys() - apart} for name in UNITS[:2])
        assert one == shard


class TestCompose:
    @pytest.mark.parametrize("name", ["compose.yaml", "compose.postgresql.yaml"])
    def test_runs_as_nobody_in_particular_on_a_read_only_root(self, name: str) -> None:
        ours = services(name)["cc-bot"]
        assert (ours["read_only"], ours["cap_drop"], ours["restart"]) == (True, ["ALL"], "unless-stopped")
        assert ours["security_opt"] == ["no-new-privileges:true"]
        assert ours["user"].split(":")[0] not in ("0", "root")
        assert seconds(ours["stop_grace_period"]) > LONGEST_STOP_S + 5
        assert not [each for each in services(name).values() if "ports" in each]

    def test_keeps_the_database_and_its_temporary_files_in_the_one_volume(self) -> None:
        """Where there is no room for a copy, what was erased stays in its free pages."""
        [ours] = services("compose.yaml").values()
        [volume] = ours["volumes"]
        folder = volume.split(":")[1]
        assert ours["environment"]["CC_BOT_DATABASE_URL"].startswith(f"sqlite:///{folder}/")
        assert ours["environment"]["TMPDIR"] == folder
        assert f"TMPDIR={folder} " in read("Dockerfile")

    def test_with_postgresql_shuts_the_database_in_and_holds_no_password(self) -> None:
        compose = yaml.safe_load(read("compose.postgresql.yaml"))
        assert compose["networks"]["inside"] == {"internal": True}
        found = compose["services"]
        assert [name for name, each in found.items() if "outside" in each["networks"]] == ["cc-bot"]
        url = found["cc-bot"]["environment"]["CC_BOT_DATABASE_URL"]
        passwords = [found[name]["environment"]["POSTGRES_PASSWORD"] for name in ("pgbouncer", "db")]
        assert all("${POSTGRES_PASSWORD:?" in each for each in (url, *passwords))


class TestImage:
    def test_is_not_root_and_has_nothing_of_what_built_it(self) -> None:
        build, last = read("Dockerfile").split("FROM ")[1:]
        assert last.index("\nUSER 10001:10001\n") < last.index("ENTRYPOINT")
        assert re.findall(r"COPY --from=(\S+) (\S+)", last) == [("build", "/opt/cc-bot")]
        for line in re.findall(r"^.*/bin/pip .*$", build, flags=re.MULTILINE):
            assert "--require-hashes" in line or "--no-deps" in line, line

    def test_is_made_of_the_bytes_that_a_digest_names(self) -> None:
        """A tag is whatever its owner says it is today; so is the syntax that a first line may fetch."""
        dockerfile = read("Dockerfile")
        images = re.findall(r"^ARG (\w+_IMAGE)=\S+@sha256:[0-9a-f]{64}$", dockerfile, flags=re.MULTILINE)
        used = re.findall(r"^FROM (\S+)", dockerfile, flags=re.MULTILINE)
        assert {name.strip("${}") for name in used} == {*images}
        assert "syntax=" not in dockerfile
        pooler = services("compose.postgresql.yaml")["pgbouncer"]["build"]["dockerfile_inline"]
        [image] = re.findall(r"^FROM (\S+)$", pooler, re.MULTILINE)
        assert f"ARG PYTHON_IMAGE={image}\n" in dockerfile

    def test_is_built_of_what_is_sent_to_the_builder_and_never_of_secrets_or_data(self) -> None:
        lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
        sent = [line[1:] for line in lines if line.startswith("!")]
        wanted = [
            source.replace("${EXTRAS}", "run")
            for line in re.findall(r"^COPY (?!--from)(.+) \S+$", read("Dockerfile"), flags=re.MULTILINE)
            for source in line.split()
        ]
        assert wanted
        assert lines[1] == "*"
        assert [each for each in wanted if not (ROOT / each).exists()] == []
        assert [each for each in wanted if not any(fnmatch(each, f"{kept}*") for kept in sent)] == []
        for secret in (".env", "data", "data/sessions.db", "backup", ".git"):
            assert not any(fnmatch(secret, f"{kept}*") for kept in sent), secret


def test_settings_are_such_as_the_program_reads() -> None:
    known = {*VARIABLE.findall((ROOT / ".env.example").read_text("utf-8"))}
    for name in (*UNITS, "Dockerfile", "compose.yaml", "compose.postgresql.yaml"):
        assert {*VARIABLE.findall(read(name))} <= known, name


@pytest.mark.parametrize("name", ["deploy.md", "deploy.ja.md"])
def test_the_document_brings_no_secret_into_a_command_line(name: str) -> None:
    """sudo writes each command line into the system's log, and the list of processes shows it."""
    uses = re.findall(r"(\S+\s*)/etc/cc-bot\.env", (ROOT / "docs" / name).read_text("utf-8"))
    found = {use.strip() for use in uses}
    assert "EnvironmentFile=" in found <= {"/opt/cc-bot/.env.example", "sudoedit", "EnvironmentFile="}


class TestWorkflows:
    @pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
    def test_have_few_rights_and_little_time(self, path: Path) -> None:
        workflow = yaml.safe_load(path.read_text("utf-8"))
        assert workflow["permissions"] == {"contents": "read"}
        assert all(job["timeout-minutes"] <= 20 for job in workflow["jobs"].values())

    @pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
    def test_use_actions_by_their_commits(self, path: Path) -> None:
        uses = re.findall(r"uses: (.+)$", path.read_text("utf-8"), flags=re.MULTILINE)
        assert uses
        for use in uses:
            assert re.fullmatch(r"[\w-]+/[\w./-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", use), use
