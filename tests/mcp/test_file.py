"""The operator's file of servers: its settings, and the error for each mistake."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cc_bot.domain.text import Locale
from cc_bot.features.mcp.file import ServerEntry, ServerRules, parse_servers
from cc_bot.operator_file import FileRefused
from cc_bot.texts import texts

VARIABLES = {"PATH": str(Path(sys.executable).parent), "HOME": "/home", "LANG": "C", "KEY": "geheim-42"}
PROGRAM = Path(sys.executable).name
SECRETS = ("geheim-42", "wert-43")


def parse(document: Any, locale: Locale = Locale.EN) -> Mapping[str, ServerEntry]:
    text = document if isinstance(document, str) else json.dumps(document, ensure_ascii=False)
    return parse_servers(text, variables=VARIABLES, words=texts(locale))


def one(table: Mapping[str, Any], group: str = "mcpServers") -> ServerEntry:
    [entry] = parse({group: {"notes": table}}).values()
    return entry


def refusal(document: Any, locale: Locale = Locale.EN) -> str:
    with pytest.raises(FileRefused) as refused:
        parse(document, locale)
    return str(refused.value)


class TestAnEntry:
    def test_is_taken_as_other_programs_write_it(self) -> None:
        written = {
            "type": "stdio",
            "command": PROGRAM,
            "args": ["-m", "${HOME}/notes"],
            "env": {"A": "${KEY}"},
        }
        others = {"autoApprove": ["read"], "alwaysAllow": [], "timeout": 60, "disabled": False}
        for group in ("mcpServers", "servers"):
            entry = one({**written, **others}, group)
            assert (entry.command, entry.arguments) == (sys.executable, ("-m", "/home/notes"))
            assert entry.rules == ServerRules()
            inherited = {name: VARIABLES[name] for name in ("PATH", "HOME", "LANG")}
            assert entry.environment == {**inherited, "A": "geheim-42"}

    def test_of_a_server_on_the_web_is_known_by_its_type_or_by_its_url(self) -> None:
        url = "https://notes.example/mcp"
        for kind in ("http", "streamable-http", "streamableHttp"):
            assert one({"type": kind, "url": url}) == one({"url": url})
        for written in ("${KEY}", "${env:KEY}", "${OTHER:-geheim-42}"):
            entry = one({"url": url, "headers": {"Authorization": f"Bearer {written}"}})
            assert entry.headers == {"Authorization": "Bearer geheim-42"}

    def test_says_what_may_be_called_where_and_for_whom(self) -> None:
        ours = json.loads("""{
            "tools": ["get_*"], "deny": ["get_all"], "approve": "always", "approvers": "owners",
            "timeout_s": 5, "max_result_kb": 4, "calls_per_turn": 2, "local": ["get_note"],
            "roles": [7], "guilds": ["123456789012345678"], "channels": [9]
        }""")
        assert one({"command": PROGRAM, "cc_bot": ours}).rules == ServerRules(
            tools=("get_*",),
            deny=("get_all",),
            approve="always",
            approvers="owners",
            timeout_s=5.0,
            max_result_kb=4,
            calls_per_turn=2,
            guilds=frozenset({123456789012345678}),
            channels=frozenset({9}),
            roles=frozenset({7}),
            local=("get_note",),
        )
        for off in ({"disabled": True}, {"cc_bot": {"enabled": False}}):
            assert parse({"mcpServers": {"notes": {"command": "is-not-there", **off}}}) == {}

    def test_shows_no_value_where_it_is_printed(self) -> None:
        entry = one({"command": PROGRAM, "args": ["geheim-42"], "env": {"A": "wert-43"}})
        assert not any(secret in repr(entry) for secret in SECRETS)


def server(**table: Any) -> dict[str, Any]:
    return {"mcpServers": {"notes": {"command": PROGRAM, **table}}}


def over_http(**table: Any) -> dict[str, Any]:
    return {"mcpServers": {"notes": table}}


MISTAKES = [
    # (what stands in the file, what its sentence has to name)
    ('{"mcpServers": {', ["line 1", "column 17"]),
    ("[" * 5000, ["line"]),
    ([], ["not an object", '{"mcpServers": {}}']),
    ({"mcpServer": {}}, ["mcpServer", "mcpServers"]),
    ('{"mcpServers": {"notes": {}, "notes": {}}}', ["notes", "twice"]),
    ('{"mcpServers": {"notes": {"env": {"A": "wert-43", "A": ""}}}}', ["A", "twice"]),
    ('{"mcpServers": {}, "mcpServers": {}}', ["mcpServers", "twice"]),
    ({"mcpServers": {"a b": {"command": PROGRAM}, "a.b": {"command": PROGRAM}}}, ["a b", "a.b", "Rename"]),
    ({"mcpServers": {"": {"command": PROGRAM}}}, ["name"]),
    ('{\n // 私のサーバー\n "servers": {}}', ["Comments", "line 2"]),
    (server(envFile=".env"), ["notes", "envFile", "env"]),
    (server(env={"PORT": 43}), ["notes", "env.PORT", '"3000"']),
    (over_http(url="https://a.example", headers={"X-Age": 43}), ["notes", "headers.X-Age"]),
    ({"mcpServers": {"a__b": {"command": PROGRAM}}}, ["a__b"]),
    (server(comand="x"), ["notes", "comand", "command"]),
    (server(cc_bot={"tool": []}), ["notes", "cc_bot", "tool", "tools"]),
    (server(args="wert-43"), ["notes", "args", "mcp-server-time"]),
    (server(env={"A": "${NOWHERE}"}), ["notes", "env.A", "NOWHERE"]),
    (server(args=["--key=${KEY}"]), ["notes", "args", "${KEY}", "env", "headers"]),
    (server(args=["${OTHER:-wert-43}"]), ["notes", "args", "${OTHER}"]),
    (server(command="${KEY}"), ["notes", "command", "${KEY}"]),
    (server(args=["${input:key}"]), ["notes", "args", "${input:key}"]),
    (server(command="is-not-there"), ["notes", "command"]),
    (over_http(type="sse", url="https://notes.example"), ["notes", "type", '"http"']),
    (over_http(url="file:///wert-43"), ["notes", "url"]),
    (over_http(url="https://a.example", headers={"A": "wert-43\n"}), ["notes", "headers"]),
    (server(cc_bot={"approve": "sometimes"}), ["notes", "cc_bot] approve", '"writes"']),
    (server(cc_bot={"timeout_s": 0}), ["notes", "cc_bot] timeout_s"]),
    (server(cc_bot={"guilds": ["here"]}), ["notes", "cc_bot] guilds"]),
    (server(cc_bot={"enabled": "no"}), ["notes", "cc_bot] enabled"]),
]


class TestAMistake:
    def test_is_one_sentence_with_server_and_key(self) -> None:
        for document, named in MISTAKES:
            sentence = refusal(document)
            assert [word for word in named if word not in sentence] == [], sentence
            assert "\n" not in sentence
            assert not any(secret in sentence for secret in SECRETS), sentence
            assert refusal(document, Locale.JA) != sentence
