"""The files of deploy/: what they promise about the program, held against the program.

Docker itself is on no machine of ours. Where systemd is there, its own checker reads the units as well.
"""

import re
import shutil
import subprocess
import sys
from collections import defaultdict
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml

from cc_bot.app.core import SUMMARY_DRAIN_S
from cc_bot.app.discord import DRAIN_S
from cc_bot.app.watchdog import LEAVE_S, LIMIT_S
from cc_bot.discord.bot import LAST_WORDS_S
from tests.architecture.test_layout import ROOT, VARIABLE

DEPLOY = ROOT / "deploy"
LONGEST_STOP_S = DRAIN_S + LAST_WORDS_S + SUMMARY_DRAIN_S
UNITS = ("cc-bot.service", "cc-bot@.service", "cc-bot-backup.service")


def unit(name: str) -> dict[str, list[str]]:
    """What is set, by name; a directive may come several times."""
    found: dict[str, list[str]] = defaultdict(list)
    for line in (DEPLOY / name).read_text("utf-8").splitlines():
        if "=" in line and not line.startswith("#"):
            key, value = line.split("=", 1)
            found[key].append(value)
    return found


def seconds(text: str) -> float:
    return float(text.removesuffix("s"))


@pytest.fixture
def service() -> dict[str, Any]:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    [found] = compose["services"].values()
    assert isinstance(found, dict)
    return found


@pytest.fixture
def dockerfile() -> str:
    return (DEPLOY / "Dockerfile").read_text("utf-8")


class TestUnit:
    @pytest.mark.parametrize("name", UNITS)
    def test_takes_away_what_a_bot_does_not_need(self, name: str) -> None:
        found = unit(name)
        assert found["User"] == ["cc-bot"]
        assert found["CapabilityBoundingSet"] == [""]
        assert found["ProtectSystem"] == ["strict"]
        for switch in (
            "NoNewPrivileges",
            "ProtectHome",
            "PrivateTmp",
            "PrivateDevices",
            "RestrictNamespaces",
        ):
            assert found[switch] == ["yes"], switch
        assert found["SystemCallFilter"] == ["@system-service", "~@privileged"]
        assert found["UMask"] == ["0077"]

    def test_waits_for_answers_that_are_on_their_way(self) -> None:
        assert seconds(unit("cc-bot.service")["TimeoutStopSec"][0]) > LONGEST_STOP_S + 5
        assert LONGEST_STOP_S < LEAVE_S < 15

    def test_starts_the_program_anew_when_it_stands(self) -> None:
        found = unit("cc-bot.service")
        assert (found["Type"], found["Restart"]) == (["notify"], ["on-failure"])
        assert "SuccessExitStatus" not in found
        assert "RestartPreventExitStatus" not in found
        assert seconds(found["WatchdogSec"][0]) > LIMIT_S + 5  # the program's own record comes first

    def test_gives_a_migration_the_time_that_it_takes(self) -> None:
        assert unit("cc-bot.service")["TimeoutStartSec"] == ["infinity"]

    def test_backs_up_the_database_that_the_bot_uses(self) -> None:
        bot, backup = map(unit, ("cc-bot.service", "cc-bot-backup.service"))
        assert bot["Environment"] == backup["Environment"]
        assert backup["PrivateNetwork"] == ["yes"]

    def test_is_to_the_liking_of_systemd(self, tmp_path: Path) -> None:
        """Paths of the program are those of a machine that has it: something else stands in for it here."""
        checker = shutil.which("systemd-analyze")
        for source in DEPLOY.glob("cc-bot*.*"):
            text = source.read_text("utf-8").replace("/opt/cc-bot/.venv/bin/cc-bot", sys.executable)
            (tmp_path / source.name).write_text(text)
        units = [str(tmp_path / name) for name in (*UNITS, "cc-bot-backup.timer")]
        if checker is None:
            assert len(units) == 4  # nothing more can be said of them on this machine
            return
        told = subprocess.run([checker, "verify", *units], capture_output=True, text=True, check=False)
        assert (told.returncode, told.stderr) == (0, "")


class TestCompose:
    def test_runs_as_nobody_in_particular_on_a_read_only_root(self, service: dict[str, Any]) -> None:
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["user"].split(":")[0] not in ("0", "root")
        assert len(service["volumes"]) == 1
        assert "ports" not in service

    def test_waits_for_answers_that_are_on_their_way(self, service: dict[str, Any]) -> None:
        assert seconds(service["stop_grace_period"]) > LONGEST_STOP_S + 5

    def test_starts_the_program_anew_when_it_stands(self, service: dict[str, Any]) -> None:
        assert service["restart"] == "unless-stopped"

    def test_keeps_the_database_in_its_volume(self, service: dict[str, Any]) -> None:
        [volume] = service["volumes"]
        folder = volume.split(":")[1]
        assert service["environment"]["CC_BOT_DATABASE_URL"].startswith(f"sqlite:///{folder}/")

    def test_has_room_for_a_copy_of_the_database_where_temporary_files_go(
        self, service: dict[str, Any], dockerfile: str
    ) -> None:
        """Where there is none, what was erased stays in the file's free pages (storage.rewriting)."""
        [volume] = service["volumes"]
        folder = volume.split(":")[1]
        assert service["environment"]["TMPDIR"] == folder
        assert f"TMPDIR={folder} " in dockerfile


class TestComposeWithPostgresql:
    @pytest.fixture
    def services(self) -> dict[str, Any]:
        compose = yaml.safe_load((DEPLOY / "compose.postgresql.yaml").read_text("utf-8"))
        assert compose["networks"]["inside"] == {"internal": True}
        services = compose["services"]
        assert isinstance(services, dict)
        return services

    def test_runs_the_bot_as_the_other_file_does(
        self, services: dict[str, Any], service: dict[str, Any]
    ) -> None:
        ours = services["cc-bot"]
        for name in ("read_only", "cap_drop", "security_opt", "user", "tmpfs", "restart", "init", "env_file"):
            assert ours[name] == service[name], name
        assert seconds(ours["stop_grace_period"]) > LONGEST_STOP_S + 5

    def test_lets_nobody_in_from_outside(self, services: dict[str, Any]) -> None:
        assert not [name for name, service in services.items() if "ports" in service]
        assert [name for name, service in services.items() if "outside" in service["networks"]] == ["cc-bot"]

    def test_starts_each_when_the_one_behind_it_is_well(self, services: dict[str, Any]) -> None:
        for name, behind in (("cc-bot", "pgbouncer"), ("pgbouncer", "db")):
            assert services[name]["depends_on"] == {behind: {"condition": "service_healthy"}}
            assert services[behind]["healthcheck"]["test"][0] == "CMD"

    def test_holds_no_password(self, services: dict[str, Any]) -> None:
        """It comes from the environment, and nothing starts without one."""
        url = services["cc-bot"]["environment"]["CC_BOT_DATABASE_URL"]
        assert "${POSTGRES_PASSWORD:?" in url
        for name in ("pgbouncer", "db"):
            assert services[name]["environment"]["POSTGRES_PASSWORD"].startswith("${POSTGRES_PASSWORD:?")

    def test_names_the_very_version_of_the_server(self, services: dict[str, Any]) -> None:
        assert re.fullmatch(r"postgres:18\.\d+-\w+(@sha256:[0-9a-f]{64})?", services["db"]["image"])

    def test_names_the_places_that_there_are(self, services: dict[str, Any]) -> None:
        pooler = (DEPLOY / "pgbouncer.ini").read_text("utf-8")
        assert "@pgbouncer:6432/cc_bot" in services["cc-bot"]["environment"]["CC_BOT_DATABASE_URL"]
        assert "listen_port = 6432\n" in pooler
        assert "cc_bot = host=db port=5432\n" in pooler
        assert services["db"]["environment"]["POSTGRES_DB"] == "cc_bot"

    def test_keeps_what_stands_beside_the_database_in_a_volume(self, services: dict[str, Any]) -> None:
        [volume] = services["cc-bot"]["volumes"]
        assert services["cc-bot"]["environment"]["CC_BOT_DATA_FOLDER"] == volume.split(":")[1]

    def test_makes_the_pooler_of_the_bytes_of_the_bots_own_image(
        self, services: dict[str, Any], dockerfile: str
    ) -> None:
        [image] = re.findall(
            r"^FROM (\S+)$", services["pgbouncer"]["build"]["dockerfile_inline"], re.MULTILINE
        )
        assert f"ARG PYTHON_IMAGE={image}\n" in dockerfile


class TestImage:
    def test_is_not_root_when_it_runs(self, dockerfile: str) -> None:
        last = dockerfile[dockerfile.rindex("FROM ") :]
        assert "\nUSER cc-bot\n" in last
        assert last.index("USER cc-bot") < last.index("ENTRYPOINT")

    def test_asks_for_its_health_where_the_program_tells_it(
        self, dockerfile: str, service: dict[str, Any]
    ) -> None:
        [port] = re.findall(r"CC_BOT_METRICS_PORT=(\d+)", dockerfile)
        assert f"http://127.0.0.1:{port}/healthz" in dockerfile
        assert service["environment"]["CC_BOT_METRICS_PORT"] == port

    def test_is_made_of_the_bytes_that_a_digest_names(self, dockerfile: str) -> None:
        """A tag is whatever its owner says it is today; so is the syntax that a first line may fetch."""
        images = re.findall(r"^ARG (\w+_IMAGE)=\S+@sha256:[0-9a-f]{64}$", dockerfile, flags=re.MULTILINE)
        used = re.findall(r"^FROM (\S+)", dockerfile, flags=re.MULTILINE)
        assert images
        assert {name.strip("${}") for name in used} == set(images)
        assert "syntax=" not in dockerfile
        assert re.findall(r"COPY --from=(\S+)", dockerfile) == ["build"]

    def test_runs_without_what_built_it(self, dockerfile: str) -> None:
        build, last = dockerfile.split("FROM ")[1:]
        assert "venv --without-pip /opt/cc-bot" in build
        assert re.findall(r"COPY --from=build (\S+)", last) == ["/opt/cc-bot"]
        for line in re.findall(r"^.*/bin/pip .*$", build, flags=re.MULTILINE):
            assert "--require-hashes" in line or "--no-deps" in line, line

    def test_is_made_of_what_goes_to_the_builder(self, dockerfile: str) -> None:
        sent = builders_files()
        wanted = [
            source.replace("${EXTRAS}", extras)
            for line in re.findall(r"^COPY (?!--from)(.+) \S+$", dockerfile, flags=re.MULTILINE)
            for source in line.split()
            for extras in ("run", "charts", "documents", "semantic", "postgres")
        ]
        assert wanted
        for source in wanted:
            assert (ROOT / source).exists(), source
            assert any(fnmatch(source, f"{kept}*") for kept in sent), source

    def test_never_gets_secrets_or_data(self) -> None:
        sent = builders_files()
        for secret in (".env", "data", "data/sessions.db", "backup", ".git"):
            assert not any(fnmatch(secret, f"{kept}*") for kept in sent), secret


def builders_files() -> list[str]:
    """What .dockerignore lets through; everything else it keeps."""
    lines = [line for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line[:1] not in "#"]
    assert lines[0] == "*"
    return [line[1:] for line in lines if line.startswith("!")]


class TestDocument:
    @pytest.mark.parametrize("name", ["deploy.md", "deploy.ja.md"])
    def test_brings_no_secret_into_a_command_line(self, name: str) -> None:
        """sudo writes each command line into the system's log, and the list of processes shows it."""
        text = (ROOT / "docs" / name).read_text("utf-8")
        uses = re.findall(r"(\S+\s*)/etc/cc-bot\.env", text)
        assert {use.strip() for use in uses} <= {"/opt/cc-bot/.env.example", "sudoedit", "EnvironmentFile="}
        assert "EnvironmentFile=/etc/cc-bot.env" in text


class TestSettings:
    @pytest.mark.parametrize("name", [*UNITS, "Dockerfile", "compose.yaml", "compose.postgresql.yaml"])
    def test_are_such_as_the_program_reads(self, name: str) -> None:
        example = (ROOT / ".env.example").read_text("utf-8")
        used = set(VARIABLE.findall((DEPLOY / name).read_text("utf-8")))
        assert used <= set(VARIABLE.findall(example))


class TestWorkflows:
    @pytest.mark.parametrize(
        "path", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda p: p.stem
    )
    def test_have_few_rights_and_little_time(self, path: Path) -> None:
        workflow = yaml.safe_load(path.read_text("utf-8"))
        assert workflow["permissions"] == {"contents": "read"}
        assert all(job["timeout-minutes"] <= 20 for job in workflow["jobs"].values())

    @pytest.mark.parametrize(
        "path", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda p: p.stem
    )
    def test_use_actions_by_their_commits(self, path: Path) -> None:
        """A tag can be moved to other code; behind the commit stands which version it is."""
        uses = re.findall(r"uses: (.+)$", path.read_text("utf-8"), flags=re.MULTILINE)
        assert uses
        for use in uses:
            assert re.fullmatch(r"[\w-]+/[\w./-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", use), use

    def test_call_recipes_that_there_are(self) -> None:
        recipes = (ROOT / "Makefile").read_text("utf-8")
        faults = (ROOT / ".github" / "workflows" / "faults.yml").read_text("utf-8")
        for recipe in re.findall(r"run: make (\S+)", faults):
            assert re.search(rf"^{recipe}:", recipes, flags=re.MULTILINE)
        assert "make test-faults" in faults


class TestScaling:
    def test_gives_each_process_its_own_shards_and_volume(self) -> None:
        compose = yaml.safe_load((DEPLOY / "compose.scaling.yaml").read_text("utf-8"))
        services = compose["services"]
        held = [
            shard
            for each in services.values()
            for first, last in [each["environment"]["CC_BOT_SHARDS"].split("-")]
            for shard in range(int(first), int(last) + 1)
        ]
        assert {each["environment"]["CC_BOT_SHARD_COUNT"] for each in services.values()} == {"16"}
        assert sorted(held) == list(range(16))
        others = [each for name, each in services.items() if name != "cc-bot"]
        assert all(
            each["extends"] == {"file": "compose.postgresql.yaml", "service": "cc-bot"} for each in others
        )
        assert {each["volumes"][0].split(":")[0] for each in others} == compose["volumes"].keys()

    def test_runs_a_unit_as_the_one_that_is_alone_does(self) -> None:
        alone, one = unit("cc-bot.service"), unit("cc-bot@.service")
        apart = {"Description", "ExecStart", "EnvironmentFile", "Environment"}
        assert {name: one[name] for name in one if name not in apart} == {
            name: alone[name] for name in alone if name not in apart
        }
        assert one["ExecStart"] == ["/opt/cc-bot/.venv/bin/cc-bot run --shards %i"]
