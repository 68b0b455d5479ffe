"""All checks together, and how the report is told."""

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from rich.cells import cell_len

from cc_bot.doctor import Check, Finding, FindingWriter, Report, as_json, as_lines, run_checks
from cc_bot.doctor.surroundings import (
    check_backups,
    check_clock_set_ahead,
    check_documents,
    check_font,
    check_operator_file,
    check_program,
    check_sandbox,
    check_timezone,
)
from cc_bot.domain import Locale
from cc_bot.domain.errors import InvalidAgents
from cc_bot.reading.process import reading_command
from cc_bot.reading.reader import DocumentReader
from cc_bot.terminal.markdown import break_offsets
from cc_bot.texts import texts
from tests.reading.confinement import UNCONFINED, WITHOUT_SECCOMP

JA = texts(Locale.JA)
NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
TOKEN = FindingWriter("token")
DISK = FindingWriter("disk")
FINE, BAD = (
    TOKEN.ok("モチ としてログインできます。"),
    TOKEN.failed("受け付けません。", "発行し直してください。"),
)
LOW = DISK.warning("空きが 100 MB しかありません（目安は 512 MB）。", "不要なファイルを消してください。")


def check(found: Sequence[Finding] = (), error: Exception | None = None, wait: bool = False) -> Check:
    async def run() -> Sequence[Finding]:
        if wait:
            await asyncio.Event().wait()
        if error:
            raise error
        return found

    return Check("token", run, limit_s=0.01 if wait else 5)


class TestACheckup:
    async def test_keeps_the_order_of_the_checks(self) -> None:
        report = await run_checks([check([FINE]), check([LOW, BAD])], JA)
        assert report.findings == (FINE, LOW, BAD)

    async def test_survives_a_check_that_breaks_and_tells_its_kind_alone(self) -> None:
        report = await run_checks([check(error=ValueError("sk-secret")), check([FINE])], JA)
        assert [finding.verdict for finding in report.findings] == ["failed", "ok"]
        assert "ValueError" in report.findings[0].detail
        assert "secret" not in str(report)

    async def test_does_not_wait_for_a_check_that_hangs(self) -> None:
        report = await run_checks([check(wait=True), check([FINE])], JA)
        assert [finding.verdict for finding in report.findings] == ["failed", "ok"]


class TestACheckupThatIsDue:
    async def test_tells_what_is_not_over_as_unfinished_and_the_rest_as_it_is(self) -> None:
        until_s = asyncio.get_running_loop().time() + 0.05
        hanging = check(wait=True)
        silent = replace(hanging, limit_s=60.0, unfinished="failed")
        slow = replace(hanging, limit_s=60.0)
        report = await run_checks([check([FINE]), slow, silent], JA, until_s)
        assert [finding.verdict for finding in report.findings] == ["ok", "warning", "failed"]
        assert [finding.finished for finding in report.findings] == [True, False, False]
        told = json.loads(as_json(report, version="1.2.3", offline=False))
        assert [found["finished"] for found in told["checks"]] == [True, False, False]


class TestAReport:
    @pytest.mark.parametrize(
        ("findings", "verdict", "exit_code"),
        [([FINE], "ok", 0), ([FINE, LOW], "warning", 0), ([LOW, BAD, FINE], "failed", 1), ([], "ok", 0)],
    )
    def test_is_as_bad_as_its_worst_finding(
        self, findings: list[Finding], verdict: str, exit_code: int
    ) -> None:
        report = Report(findings)
        assert (report.verdict, report.exit_code) == (verdict, exit_code)

    def test_is_a_line_for_each_finding_and_one_for_what_to_do(self) -> None:
        lines = as_lines(Report([FINE, LOW]), JA, offline=False, width=None, breaks=break_offsets)
        assert lines == [
            "✓ 良好  トークン: モチ としてログインできます。",
            "! 注意  ディスク: 空きが 100 MB しかありません（目安は 512 MB）。",
            "  → 不要なファイルを消してください。",
            "失敗が 0 件、注意が 1 件あります。",
        ]

    def test_says_so_when_nothing_is_wrong_and_what_was_left_out(self) -> None:
        lines = as_lines(Report([FINE]), JA, offline=True, width=None, breaks=break_offsets)
        assert lines[-2:] == [JA.doctor.offline, JA.doctor.all_well]

    @pytest.mark.parametrize("locale", list(Locale))
    @pytest.mark.parametrize("width", [20, 40, 80])
    def test_fits_a_terminal_of_any_width(self, locale: Locale, width: int) -> None:
        words = texts(locale)
        said = words.doctor
        findings = [
            FindingWriter("intents").warning(said.intents_missing, said.intents_missing_mend),
            FindingWriter("clock").failed(said.clock_off.format(seconds=90), said.clock_off_mend),
        ]
        lines = as_lines(Report(findings), words, offline=True, width=width, breaks=break_offsets)
        assert max(map(cell_len, lines)) <= width
        together = "".join(line.strip().removeprefix("→ ") for line in lines)
        assert said.intents_missing.replace(" ", "") in together.replace(" ", "")

    def test_is_one_object_for_a_program(self) -> None:
        told = json.loads(as_json(Report([FINE, LOW]), version="1.2.3", offline=True))
        assert (told["version"], told["verdict"], told["offline"]) == ("1.2.3", "warning", True)
        fine = {"check": "token", "verdict": "ok", "detail": FINE.detail, "mend": None, "finished": True}
        assert told["checks"][0] == fine
        assert told["checks"][1]["mend"] == LOW.mend


class TestWhatIsAtHand:
    def test_is_told_with_versions_and_the_time_there(self) -> None:
        assert "1.2.3" in check_program("1.2.3", "3.40.1", JA).detail
        assert "Asia/Tokyo は今 2026-11-22 21:00" in check_timezone(ZoneInfo("Asia/Tokyo"), NOW, JA).detail

    def test_warns_of_a_clock_that_a_test_has_set(self) -> None:
        assert check_clock_set_ahead(timedelta(days=1), JA).verdict == "warning"


class TestTheFont:
    async def test_is_tried_by_drawing(self) -> None:
        [finding] = await check_font(Locale.JA, JA)
        assert (finding.verdict, finding.detail) == ("ok", JA.doctor.font_ok)


class TestDocuments:
    async def test_are_tried_by_reading_one(self) -> None:
        [finding] = await check_documents(DocumentReader(unconfined=UNCONFINED), JA)
        assert (finding.verdict, finding.detail) == ("ok", JA.doctor.documents_ok)

    async def test_that_can_not_be_read_are_told(self) -> None:
        [finding] = await check_documents(DocumentReader((sys.executable, "-c", "")), JA)
        assert (finding.verdict, finding.mend) == ("failed", JA.doctor.documents_failed_mend)


@pytest.mark.skipif(UNCONFINED, reason="the sandbox is Linux's")
class TestTheSandbox:
    async def test_is_tried_by_reading_in_it(self) -> None:
        [finding] = await check_sandbox(DocumentReader(), JA, permitted=False)
        assert (finding.verdict, finding.detail) == ("ok", JA.doctor.sandbox_ok)

    async def test_that_does_not_hold_is_told_with_what_follows(self) -> None:
        reader = DocumentReader((*WITHOUT_SECCOMP, *reading_command()))
        [refusing] = await check_sandbox(reader, JA, permitted=False)
        assert (refusing.verdict, refusing.mend) == ("warning", JA.doctor.sandbox_none_mend)
        [permitted] = await check_sandbox(reader, JA, permitted=True)
        assert (permitted.verdict, permitted.detail) == ("warning", JA.doctor.sandbox_off)
        assert await check_documents(reader, JA) == []


class TestAnOperatorsFile:
    async def test_that_is_right_is_told_in_its_own_words(self) -> None:
        async def load() -> str:
            return "3 人が使えます。"

        [finding] = await check_operator_file(FindingWriter("agents"), load, JA)
        assert finding == FindingWriter("agents").ok("3 人が使えます。")

    async def test_that_is_wrong_is_told_as_its_reader_does(self) -> None:
        async def load() -> str:
            raise InvalidAgents(path="agents.toml", detail="[tutor] の model は文字列です。")

        [finding] = await check_operator_file(FindingWriter("agents"), load, JA)
        assert finding.verdict == "failed"
        assert "[tutor]" in finding.detail


class TestBackups:
    async def found(self, folder: Path, age: timedelta | None = None) -> Finding:
        if age is not None:
            copy = folder / "sessions_20261101-030405.db"
            copy.touch()
            made_s = (NOW - age).timestamp()
            os.utime(copy, (made_s, made_s))
        [finding] = await check_backups(folder, NOW, JA)
        return finding

    async def test_of_this_week_are_well(self, tmp_path: Path) -> None:
        finding = await self.found(tmp_path, timedelta(days=2))
        assert finding.verdict == "ok"
        assert "2 日前" in finding.detail

    async def test_of_last_month_are_a_warning(self, tmp_path: Path) -> None:
        assert (await self.found(tmp_path, timedelta(days=30))).verdict == "warning"

    async def test_that_there_are_none_of_are_a_warning(self, tmp_path: Path) -> None:
        assert (await self.found(tmp_path)).verdict == "warning"
        assert (await self.found(tmp_path / "not there")).verdict == "warning"

    async def test_from_the_future_are_no_days_old(self, tmp_path: Path) -> None:
        assert "0 日前" in (await self.found(tmp_path, -timedelta(days=1))).detail
