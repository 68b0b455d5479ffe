import asyncio
import json
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cc_bot.chat.checks import Check, Finding, failed, ok, warning
from cc_bot.config import Config, read_config
from cc_bot.domain.errors import InvalidSetting
from cc_bot.domain.text import Locale
from cc_bot.features.doctor.checks import Report, as_json, as_lines, run_checks
from cc_bot.features.doctor.database import check_backups
from cc_bot.features.doctor.services import check_charts
from cc_bot.features.doctor.texts import DoctorTexts
from cc_bot.features.documents.doctor import check_documents, check_sandbox
from cc_bot.features.documents.reader import DocumentReader, reading_command
from cc_bot.features.documents.texts import DocumentCheckTexts
from cc_bot.texts import explain, texts
from tests.reading.confinement import UNCONFINED, WITHOUT_SECCOMP

JA = texts(Locale.JA)
NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
FINE, BAD = (
    ok("token", "モチ としてログインできます。"),
    failed("token", "受け付けません。\n→ 発行し直してください。"),
)
LOW = warning("disk", "空きが 100 MB しかありません（目安は 512 MB）。\n→ 不要なファイルを消してください。")


def check(found: Sequence[Finding] = (), error: Exception | None = None, wait: bool = False) -> Check:
    async def run() -> Sequence[Finding]:
        if wait:
            await asyncio.Event().wait()
        if error:
            raise error
        return found

    return Check("token", run(), 0.01 if wait else 5)


class TestACheckup:
    async def test_keeps_the_order_and_survives_checks_that_break_or_hang(self) -> None:
        broken, hangs = check(error=ValueError("sk-secret")), check(wait=True)
        unset = InvalidSetting(name="CC_BOT_DATABASE_URL", expected="sqlite:///")
        [wrong] = (await run_checks([check(error=unset)], JA)).findings
        assert wrong.detail == explain(unset, JA)
        report = await run_checks([broken, check([FINE]), hangs, check([LOW, BAD])], JA)
        verdicts = [finding.verdict for finding in report.findings]
        assert verdicts == ["failed", "ok", "failed", "warning", "failed"]
        assert (report.findings[1], report.findings[3:]) == (FINE, (LOW, BAD))
        assert ("ValueError" in report.findings[0].detail, "secret" in str(report)) == (True, False)


class TestAReport:
    def test_is_as_bad_as_its_worst_finding(self) -> None:
        lists: list[list[Finding]] = [[FINE], [FINE, LOW], [LOW, BAD, FINE], []]
        found = [(Report(findings).verdict, Report(findings).exit_code) for findings in lists]
        assert found == [("ok", 0), ("warning", 0), ("failed", 1), ("ok", 0)]

    @pytest.mark.parametrize("locale", [Locale.JA, Locale.EN])
    def test_is_a_line_for_each_finding_and_one_for_what_to_do(self, locale: Locale) -> None:
        said = texts(locale)[DoctorTexts]
        detail, _, fix = said.intents_missing.partition("\n→ ")
        missing = warning("intents", said.intents_missing)
        lines = as_lines(Report([missing]), texts(locale), offline=True)
        assert [detail in lines[0], lines[1], lines[2]] == [True, f"  → {fix}", said.offline]

    def test_is_one_object_for_a_program(self) -> None:
        written = as_json(Report([FINE, LOW]), version="1.2.3", offline=True)
        told = json.loads(written)
        assert (told["version"], told["verdict"], told["offline"]) == ("1.2.3", "warning", True)
        fine = {"check": "token", "label": "", "verdict": "ok", "detail": FINE.detail}
        assert fine.items() <= told["checks"][0].items()
        assert (told["checks"][1]["fix"], LOW.detail.endswith("。")) == (LOW.fix, True)


async def test_what_is_tried_is_told_by_drawing_and_reading() -> None:
    font = await check_charts(Locale.JA, JA)
    [reads] = await check_documents(DocumentReader(unconfined=UNCONFINED), JA)
    assert [font.detail, reads.detail] == [JA[DoctorTexts].font_ok, JA[DocumentCheckTexts].documents_ok]
    [fails] = await check_documents(DocumentReader((sys.executable, "-c", "")), JA)
    assert (fails.verdict, bool(fails.fix)) == ("failed", True)


@pytest.mark.skipif(UNCONFINED, reason="the sandbox is Linux's")
async def test_the_sandbox_is_tried_by_reading_in_it() -> None:
    holds = await check_sandbox(DocumentReader(), JA, unconfined=False)
    assert (holds.verdict, holds.detail) == ("ok", JA[DocumentCheckTexts].sandbox_ok)
    reader = DocumentReader((*WITHOUT_SECCOMP, *reading_command()))
    refusing = await check_sandbox(reader, JA, unconfined=False)
    assert (refusing.verdict, refusing.detail in JA[DocumentCheckTexts].sandbox_none) == ("warning", True)
    permitted = await check_sandbox(reader, JA, unconfined=True)
    assert (permitted.verdict, permitted.detail in JA[DocumentCheckTexts].sandbox_off) == ("warning", True)
    assert await check_documents(reader, JA) == []


async def test_backups_are_well_when_they_are_of_this_week(tmp_path: Path) -> None:
    def config(folder: Path) -> Config:
        return read_config({"CC_BOT_BACKUP_FOLDER": str(folder)})

    async def found(age: timedelta) -> tuple[str, str]:
        copy = tmp_path / "sessions_20261101-030405.db"
        copy.touch()
        made_s = (NOW - age).timestamp()
        os.utime(copy, (made_s, made_s))
        finding = await check_backups(config(tmp_path), JA, NOW)
        return finding.verdict, finding.detail

    for folder in (tmp_path, tmp_path / "not there"):
        assert (await check_backups(config(folder), JA, NOW)).verdict == "warning"
    verdict, detail = await found(timedelta(days=2))
    assert (verdict, "2 日前" in detail) == ("ok", True)
    assert (await found(timedelta(days=30)))[0] == "warning"
    assert "0 日前" in (await found(-timedelta(days=1)))[1]
