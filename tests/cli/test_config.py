"""Settings: read once, and refused in one sentence that names the variable."""

from pathlib import Path

import pytest

from cc_bot.config import Config, operator_locale, read_config
from cc_bot.domain.errors import InvalidSetting, UnknownSetting
from cc_bot.domain.text import Locale
from cc_bot.llm.providers import build_embedder
from tests.no_files import NO_FILES


def read(tmp_path: Path, dotenv: str = "", **environment: str) -> Config:
    file = tmp_path / ".env"
    file.write_text(dotenv, encoding="utf-8")
    return read_config(environment, file)


NONSENSE = (
    *("CC_BOT_HISTORY_LIMIT=-1", "CC_BOT_HISTORY_LIMIT=many", "CC_BOT_HISTORY_LIMIT=9223372036854775808"),
    *("CC_BOT_READ_PAGES=maybe", "CC_BOT_SEARCH_URL=localhost:8080", "CC_BOT_BRAVE_KEY=鍵"),
    *("CC_BOT_TOKEN_BUDGET=0", "CC_BOT_SESSION_TTL=-5"),
    *("CC_BOT_SESSION_TTL=999999999999999999999999999999", "CC_BOT_MODEL_TIMEOUT=0"),
    *("CC_BOT_MODEL_TIMEOUT=nan", "CC_BOT_MODEL_TIMEOUT=inf", "CC_BOT_MODEL=,", "CC_BOT_LOCALE=fr"),
    *("CC_BOT_TIMEZONE=Asia/Nowhere", "CC_BOT_TIMEZONE=../etc/passwd", "CC_BOT_SYNCHRONOUS=OFF"),
    *("CC_BOT_LOG_LEVEL=loud", "CC_BOT_LOG_FORMAT=xml", "CC_BOT_METRICS_PORT=65536"),
    *("CC_BOT_METRICS_PORT=http", "CC_BOT_MAX_TURNS=0", "CC_BOT_PROFILE_NOTES=11"),
    *("CC_BOT_PROFILE_NOTES=-1", "CC_BOT_PROFILE_NOTES=some", "CC_BOT_OWNERS=aiko"),
    *("CC_BOT_OWNERS=1, -2", "CC_BOT_ARCHIVE_DAYS=-1", "CC_BOT_SESSION_DAYS=36501"),
    *("CC_BOT_USAGE_DAYS=a year", "CC_BOT_CHANNELS=some", "CC_BOT_BLOCK_TOKENS=0"),
    *("CC_BOT_EMBEDDING_MODEL=a-model-without-a-server",),
    *("CC_BOT_TRANSCRIBE_MODEL=a-model-without-a-server", "CC_BOT_TRANSCRIBE_URL=localhost:8000"),
    *("CC_BOT_SPEECH_MODEL=a-model-without-a-server", "OPENAI_BASE_URL=localhost:11434"),
    *("OPENAI_BASE_URL=http://[", "DISCORD_API_URL=ftp://example.org", "OPENAI_API_KEY=かぎ"),
)


class TestSettings:
    def test_come_from_dotenv_and_the_environment_wins_unless_it_is_empty(self, tmp_path: Path) -> None:
        dotenv = 'CC_BOT_HISTORY_LIMIT=4\nDISCORD_TOKEN="from file"\n'
        config = read(tmp_path, dotenv, CC_BOT_HISTORY_LIMIT="6", OPENAI_BASE_URL="")
        assert (config.history_limit, config.discord_token) == (6, "from file")
        assert config.openai_base_url is None
        assert read(tmp_path, DISCORD_TOKEN=" ").discord_token is None

    def test_name_models_with_what_is_chosen_for_them(self, tmp_path: Path) -> None:
        config = read(tmp_path, CC_BOT_MODEL="big, small ,")
        assert (config.models, config.summary_models) == (("big", "small"), ("big", "small"))
        assert read(tmp_path, CC_BOT_SUMMARY_MODEL="light").summary_models == ("light",)
        assert build_embedder(read(tmp_path, CC_BOT_EMBEDDING_MODEL="OFF")) is None
        url = "http://localhost:8000/v1"
        encoder = build_embedder(read(tmp_path, CC_BOT_EMBEDDING_MODEL="bge-m3", OPENAI_BASE_URL=url))
        assert encoder is not None
        assert encoder.name == "bge-m3"

    def test_do_not_show_secrets(self, tmp_path: Path) -> None:
        config = read(
            tmp_path, DISCORD_TOKEN="hunter2", OPENAI_API_KEY="sk-hunter3", CC_BOT_BRAVE_KEY="hunter4"
        )
        assert "hunter" not in repr(config)

    def test_that_make_no_sense_are_refused_by_name(self, tmp_path: Path) -> None:
        wrong = list[tuple[str, object]]()
        for setting in NONSENSE:
            name, _, value = setting.partition("=")
            try:
                wrong.append((setting, read(tmp_path, **{name: value})))
            except InvalidSetting as refused:
                wrong += [] if refused.params["name"] == name else [(setting, refused)]
        assert wrong == []
        for name, value in (
            ("CC_BOT_LOCALE", "xx"),
            ("CC_BOT_BRAVE_KEY", "秘密"),
            ("OPENAI_BASE_URL", "x@y"),
        ):
            with pytest.raises(InvalidSetting) as invalid:
                read(tmp_path, **{name: value})
            assert ("value" in invalid.value.params) == (value == "xx")

    def test_in_lines_or_files_that_make_no_sense_are_refused_at_once(self, tmp_path: Path) -> None:
        lines = ("DISCORD_TOKEN: abc", 'DISCORD_TOKEN="abc', "= 5")
        files = dict.fromkeys((b"CC_BOT_LOCALE=\xff\xfe", b"A=1\n" * 70_000), ".env")
        files |= {f"CC_BOT_LOCALE=ja\n{line}\n".encode(): ".env:2" for line in lines}
        for content, name in files.items():
            (tmp_path / ".env").write_bytes(content)
            with pytest.raises(InvalidSetting) as refused:
                read_config({}, tmp_path / ".env")
            assert refused.value.params["name"] == name
        for name, make in NO_FILES.items():
            make(tmp_path / name)
            with pytest.raises(InvalidSetting):
                read_config({}, tmp_path / name)

    def test_are_read_in_the_encodings_and_under_the_name_that_windows_saves(self, tmp_path: Path) -> None:
        line = "# 設定とメモ\r\nCC_BOT_MODEL=近所のモデル\r\n"
        for encoding in ("cp932", "utf-16", "euc-jp", "utf-8-sig"):
            (tmp_path / ".env.txt").write_bytes(line.encode(encoding))
            assert read_config({}, tmp_path / ".env").models == ("近所のモデル",), encoding
        assert read(tmp_path, "CC_BOT_MODEL=a").models == ("a",)

    def test_that_are_misspelt_are_refused_with_the_nearest(self, tmp_path: Path) -> None:
        for line in (
            "CC_BOT_MODLE=a",
            "CC_BOT_MODELS=",
            "CC_BOT_WEBURL=https://bot.example",
            "DISCORD_TOKN=a",
        ):
            with pytest.raises(UnknownSetting) as refused:
                read(tmp_path, line)
            assert refused.value.params["nearest"] in ("CC_BOT_MODEL", "CC_BOT_WEB_URL", "DISCORD_TOKEN")
        # Once a setting, somebody's own, and another program's.
        read(tmp_path, "CC_BOT_SINGLE_SYSTEM=on\nCC_BOT_BACKUP_BUCKET=s3\nDISCORD_TOKEN=a\nDISCORD_TOKENS=b")

    def test_in_a_file_may_stand_among_comments_and_after_a_byte_order_mark(self, tmp_path: Path) -> None:
        config = read(tmp_path, "\ufeff# メモ\r\n\r\nexport CC_BOT_MODEL='a b'  # と注釈\r\n")
        assert config.models == ("a b",)


def test_the_operators_language_is_their_own_and_not_the_users(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    expected: list[tuple[dict[str, str], Locale]] = [
        ({}, Locale.JA),
        ({"LANG": "C.UTF-8"}, Locale.JA),
        ({"LANG": "en_US.UTF-8"}, Locale.EN),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "ja_JP.UTF-8"}, Locale.JA),
        ({"LANG": "en_US.UTF-8", "CC_BOT_LOCALE": "ja"}, Locale.JA),
        ({"CC_BOT_LOCALE": "en"}, Locale.EN),
    ]
    for environment, locale in expected:
        found = operator_locale(environment, file), read_config(environment, file).operator_locale
        assert found == (locale, locale), environment
    assert operator_locale({"CC_BOT_LOCALE": "xx"}, tmp_path) is Locale.JA  # where settings are unusable
    assert read(tmp_path, LANG="en_US.UTF-8").locale is Locale.JA


def test_the_usual_zone_is_the_machines_unless_one_is_set_or_it_runs_in_utc(tmp_path: Path) -> None:
    for settings, zone in (
        ({"TZ": "America/New_York"}, "America/New_York"),
        ({"TZ": ":Europe/Paris"}, "Europe/Paris"),
        ({"TZ": "America/New_York", "CC_BOT_TIMEZONE": "Asia/Seoul"}, "Asia/Seoul"),
        ({"TZ": "JST-9"}, "Asia/Tokyo"),
        ({"TZ": "Etc/UTC"}, "Asia/Tokyo"),
        ({"TZ": "Etc/UTC", "CC_BOT_TIMEZONE": "UTC"}, "UTC"),
    ):
        assert read(tmp_path, **settings).timezone.key == zone


def test_secret_patterns_are_read_one_a_line_and_refused_by_line_or_as_no_file(tmp_path: Path) -> None:
    file = tmp_path / "patterns"
    file.write_text("# employees\n\nEMP-\\d{6}\n  社外秘  \n", encoding="utf-8")
    config = read(tmp_path, CC_BOT_SECRET_PATTERNS=str(file))
    assert config.secret_patterns == ("EMP-\\d{6}", "社外秘")
    file.write_text("good\n(unclosed\n", encoding="utf-8")
    with pytest.raises(InvalidSetting) as refused:
        read(tmp_path, CC_BOT_SECRET_PATTERNS=str(file))
    assert str(refused.value.params["name"]).endswith("patterns:2)")
    for name, make in NO_FILES.items():
        make(tmp_path / name)
    for name in (*NO_FILES, "nothing"):
        with pytest.raises(InvalidSetting):
            read(tmp_path, CC_BOT_SECRET_PATTERNS=str(tmp_path / name))
