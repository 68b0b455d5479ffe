"""Settings: read once, and refused in one sentence that names the variable."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from cc_bot.config import Config, operator_locale, read_config
from cc_bot.domain import Locale
from cc_bot.domain.errors import InvalidSetting, SettingsUnreadable
from tests.no_files import NO_FILES


def read(tmp_path: Path, dotenv: str = "", **environment: str) -> Config:
    file = tmp_path / ".env"
    file.write_text(dotenv, encoding="utf-8")
    return read_config(environment, file)


@contextmanager
def as_nobody_special() -> Iterator[None]:
    """Where the tests run as root, who may look into every folder, they do not here."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


class TestSettings:
    def test_have_the_defaults_that_the_design_fixes(self, tmp_path: Path) -> None:
        config = read(tmp_path)
        assert config.discord_token is None
        assert config.database_url == "sqlite:///data/sessions.db"
        assert (config.history_limit, config.token_budget) == (20, 80_000)
        assert config.channels == "mentions"
        assert config.profile_notes == 0
        assert config.session_ttl == timedelta(days=1)
        assert config.model_timeout_s == 45
        assert (config.summary_every, config.summary_models) == (20, config.models)
        assert (config.locale, config.timezone.key) == (Locale.JA, "Asia/Tokyo")

    def test_come_from_dotenv_and_the_environment_wins(self, tmp_path: Path) -> None:
        config = read(
            tmp_path, 'CC_BOT_HISTORY_LIMIT=4\nDISCORD_TOKEN="from file"\n', CC_BOT_HISTORY_LIMIT="6"
        )
        assert (config.history_limit, config.discord_token) == (6, "from file")

    def test_that_are_set_to_nothing_are_not_set(self, tmp_path: Path) -> None:
        config = read(tmp_path, DISCORD_TOKEN=" ", OPENAI_BASE_URL="", CC_BOT_HISTORY_LIMIT="")
        assert (config.discord_token, config.openai_base_url, config.history_limit) == (None, None, 20)

    def test_list_models_in_the_order_of_the_chain(self, tmp_path: Path) -> None:
        assert read(tmp_path, CC_BOT_MODEL="big, small ,").models == ("big", "small")

    def test_let_the_same_models_write_summaries_unless_others_are_named(self, tmp_path: Path) -> None:
        assert read(tmp_path, CC_BOT_MODEL="big, small").summary_models == ("big", "small")
        assert read(tmp_path, CC_BOT_SUMMARY_MODEL="light").summary_models == ("light",)

    def test_take_the_encoder_that_is_installed_unless_another_or_none_is_named(self, tmp_path: Path) -> None:
        assert read(tmp_path).embedding_model == "local"
        assert read(tmp_path, CC_BOT_EMBEDDING_MODEL="OFF").embedding_model == "off"
        named = read(tmp_path, CC_BOT_EMBEDDING_MODEL="bge-m3", OPENAI_BASE_URL="http://localhost:11434/v1")
        assert named.embedding_model == "bge-m3"

    def test_hear_and_speak_where_a_model_is_named_and_some_server_has_it(self, tmp_path: Path) -> None:
        config = read(tmp_path)
        assert (config.transcribe_model, config.transcribe_url, config.speech_model) == (None, None, None)
        url = "http://localhost:8000/v1"
        config = read(tmp_path, CC_BOT_TRANSCRIBE_MODEL="ears", CC_BOT_TRANSCRIBE_URL=url)
        assert (config.transcribe_model, config.transcribe_url) == ("ears", url)
        config = read(tmp_path, CC_BOT_SPEECH_MODEL="mouth", OPENAI_API_KEY="sk-1")
        assert (config.speech_model, config.speech_voice) == ("mouth", "alloy")

    def test_serve_no_metrics_unless_a_port_is_named_and_then_to_this_machine_alone(
        self, tmp_path: Path
    ) -> None:
        assert read(tmp_path).metrics_port is None
        config = read(tmp_path, CC_BOT_METRICS_PORT="9464")
        assert (config.metrics_host, config.metrics_port) == ("127.0.0.1", 9464)

    def test_tell_up_to_ten_notes_from_the_start(self, tmp_path: Path) -> None:
        assert [read(tmp_path, CC_BOT_PROFILE_NOTES=text).profile_notes for text in ("1", "10")] == [1, 10]

    def test_do_not_show_secrets(self, tmp_path: Path) -> None:
        config = read(
            tmp_path, DISCORD_TOKEN="hunter2", OPENAI_API_KEY="sk-hunter3", CC_BOT_BRAVE_KEY="hunter4"
        )
        assert "hunter" not in repr(config)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("CC_BOT_HISTORY_LIMIT", "-1"),
            ("CC_BOT_READ_PAGES", "maybe"),
            ("CC_BOT_SEARCH_URL", "localhost:8080"),
            ("CC_BOT_BRAVE_KEY", "鍵"),
            ("CC_BOT_HISTORY_LIMIT", "many"),
            ("CC_BOT_HISTORY_LIMIT", "9223372036854775808"),
            ("CC_BOT_TOKEN_BUDGET", "0"),
            ("CC_BOT_SESSION_TTL", "-5"),
            ("CC_BOT_SESSION_TTL", "9" * 30),
            ("CC_BOT_MODEL_TIMEOUT", "0"),
            ("CC_BOT_MODEL_TIMEOUT", "nan"),
            ("CC_BOT_MODEL_TIMEOUT", "inf"),
            ("CC_BOT_MODEL", " , "),
            ("CC_BOT_LOCALE", "fr"),
            ("CC_BOT_TIMEZONE", "Asia/Nowhere"),
            ("CC_BOT_TIMEZONE", "../etc/passwd"),
            ("CC_BOT_SINGLE_SYSTEM", "perhaps"),
            ("CC_BOT_SYNCHRONOUS", "OFF"),
            ("CC_BOT_LOG_LEVEL", "loud"),
            ("CC_BOT_LOG_FORMAT", "xml"),
            ("CC_BOT_METRICS_PORT", "65536"),
            ("CC_BOT_METRICS_PORT", "http"),
            ("CC_BOT_MAX_TURNS", "0"),
            ("CC_BOT_PROFILE_NOTES", "11"),
            ("CC_BOT_PROFILE_NOTES", "-1"),
            ("CC_BOT_PROFILE_NOTES", "some"),
            ("CC_BOT_OWNERS", "aiko"),
            ("CC_BOT_OWNERS", "1, -2"),
            ("CC_BOT_ARCHIVE_DAYS", "-1"),
            ("CC_BOT_SESSION_DAYS", "36501"),
            ("CC_BOT_USAGE_DAYS", "a year"),
            ("CC_BOT_CHANNELS", "some"),
            ("CC_BOT_BLOCK_TOKENS", "0"),
            ("CC_BOT_CACHE_CONTROL", "perhaps"),
            ("CC_BOT_EMBEDDING_MODEL", "a-model-without-a-server"),
            ("CC_BOT_TRANSCRIBE_MODEL", "a-model-without-a-server"),
            ("CC_BOT_TRANSCRIBE_URL", "localhost:8000"),
            ("CC_BOT_SPEECH_MODEL", "a-model-without-a-server"),
            ("OPENAI_BASE_URL", "localhost:11434"),
            ("OPENAI_BASE_URL", "http://["),
            ("DISCORD_API_URL", "ftp://example.org"),
            ("OPENAI_API_KEY", "かぎ"),
        ],
    )
    def test_that_make_no_sense_are_refused_by_name(self, tmp_path: Path, name: str, value: str) -> None:
        with pytest.raises(InvalidSetting) as refused:
            read(tmp_path, **{name: value})
        assert refused.value.params["name"] == name

    @pytest.mark.parametrize("line", ["DISCORD_TOKEN: abc", 'DISCORD_TOKEN="abc', "= 5", "A=1\n" * 70_000])
    def test_in_lines_that_make_no_sense_are_refused(self, tmp_path: Path, line: str) -> None:
        with pytest.raises(InvalidSetting) as refused:
            read(tmp_path, f"CC_BOT_LOCALE=ja\n{line}\n")
        assert refused.value.params["name"] == ".env"

    def test_in_a_folder_that_may_not_be_looked_into_are_none(self, tmp_path: Path) -> None:
        """As when another user runs the program with `sudo -u` from the own home."""
        closed = tmp_path / "closed"
        closed.mkdir(mode=0o000)
        with as_nobody_special():
            assert read_config({}, closed / ".env") == read_config({}, tmp_path / "nowhere" / ".env")

    def test_in_a_file_that_may_not_be_read_are_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)  # the folders above it are nobody else's
        tmp_path.chmod(0o755)
        file = Path(".env")
        file.touch(mode=0o000)
        with as_nobody_special():
            with pytest.raises(SettingsUnreadable):
                read_config({}, file)
            assert operator_locale({"CC_BOT_LOCALE": "en"}, file) is Locale.EN

    @pytest.mark.parametrize("make", NO_FILES.values(), ids=NO_FILES)
    def test_in_what_is_no_file_are_refused_at_once(
        self, tmp_path: Path, make: Callable[[Path], None]
    ) -> None:
        make(tmp_path / ".env")
        with pytest.raises(InvalidSetting):
            read_config({}, tmp_path / ".env")

    def test_in_a_file_may_stand_among_comments_and_after_a_byte_order_mark(self, tmp_path: Path) -> None:
        config = read(tmp_path, "\ufeff# メモ\r\n\r\nexport CC_BOT_MODEL='a b'  # と注釈\r\n")
        assert config.models == ("a b",)

    def test_in_a_file_that_is_no_text_are_refused(self, tmp_path: Path) -> None:
        file = tmp_path / ".env"
        file.write_bytes(b"CC_BOT_LOCALE=\xff\xfe")
        with pytest.raises(InvalidSetting) as refused:
            read_config({}, file)
        assert refused.value.params["name"] == ".env"


class TestLanguage:
    @pytest.mark.parametrize(
        ("environment", "locale"),
        [
            ({}, Locale.JA),
            ({"LANG": "C.UTF-8"}, Locale.JA),
            ({"LANG": "en_US.UTF-8"}, Locale.EN),
            ({"LANG": "en_US.UTF-8", "LC_ALL": "ja_JP.UTF-8"}, Locale.JA),
            ({"LANG": "en_US.UTF-8", "CC_BOT_LOCALE": "ja"}, Locale.JA),
            ({"CC_BOT_LOCALE": "en"}, Locale.EN),
        ],
    )
    def test_is_the_operators_own(self, tmp_path: Path, environment: dict[str, str], locale: Locale) -> None:
        assert operator_locale(environment, tmp_path / ".env") is locale
        assert read_config(environment, tmp_path / ".env").operator_locale is locale

    def test_is_not_the_users(self, tmp_path: Path) -> None:
        assert read(tmp_path, LANG="en_US.UTF-8").locale is Locale.JA

    def test_is_known_even_when_the_settings_are_not_usable(self, tmp_path: Path) -> None:
        assert operator_locale({"CC_BOT_LOCALE": "xx"}, tmp_path) is Locale.JA


class TestSecretPatterns:
    """CC_BOT_SECRET_PATTERNS names a file."""

    def test_are_read_one_a_line(self, tmp_path: Path) -> None:
        (tmp_path / "patterns").write_text("# employees\n\nEMP-\\d{6}\n  社外秘  \n", encoding="utf-8")
        config = read(tmp_path, CC_BOT_SECRET_PATTERNS=str(tmp_path / "patterns"))
        assert config.secret_patterns == ("EMP-\\d{6}", "社外秘")
        assert read(tmp_path).secret_patterns == ()

    def test_that_are_none_are_named_with_their_line(self, tmp_path: Path) -> None:
        (tmp_path / "patterns").write_text("good\n(unclosed\n", encoding="utf-8")
        with pytest.raises(InvalidSetting) as refused:
            read(tmp_path, CC_BOT_SECRET_PATTERNS=str(tmp_path / "patterns"))
        assert str(refused.value.params["name"]).endswith("patterns:2)")

    @pytest.mark.parametrize("make", NO_FILES.values(), ids=NO_FILES)
    def test_of_what_is_no_file_are_refused_at_once(
        self, tmp_path: Path, make: Callable[[Path], None]
    ) -> None:
        make(tmp_path / "patterns")
        with pytest.raises(InvalidSetting):
            read(tmp_path, CC_BOT_SECRET_PATTERNS=str(tmp_path / "patterns"))

    def test_of_a_file_that_is_missing_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidSetting):
            read(tmp_path, CC_BOT_SECRET_PATTERNS=str(tmp_path / "missing"))
