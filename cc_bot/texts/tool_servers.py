"""Servers with tools: their file and their state, as their operator reads of them."""

from collections.abc import Mapping, Sequence

from cc_bot.domain.text import one_line
from cc_bot.domain.tool_server import LeftOutReason, LeftOutTool, ToolServerState, ToolStanding
from cc_bot.texts.area import Area, Both, Sentence, by_key


class ToolServersFileTexts(Area):
    """Mistakes in the file of servers. What is to be written stands there as it would in the file; what the
    file has as the value of a key is never repeated."""

    not_json = Sentence(
        ja="JSON として読めないところがあります（{line} 行目の {column} 文字目）。",
        en="It is not valid JSON (line {line}, column {column}).",
    )
    """Parameters: line, column."""
    not_an_object = Sentence(
        ja="{name} は {{ … }} の形（オブジェクト）にしてください。", en="{name} has to be an object: {{ … }}"
    )
    other_key = Sentence(
        ja='{key} は知らないキーです。サーバーは "mcpServers"（または "servers"）の中に書いてください。',
        en='{key} is not a known key. Servers stand under "mcpServers" (or "servers").',
    )
    twice = Sentence(
        ja="{server} が2度書かれています。どちらかを消してください。",
        en="{server} stands there twice. Remove one of them.",
    )
    twice_within = Sentence(
        ja="サーバー {server} に {key} が2度書かれています。どちらかを消してください。",
        en="Server {server}: {key} stands there twice. Remove one of them.",
    )
    too_many = Sentence(ja="サーバーは {limit} 個までです。", en="There may be up to {limit} servers.")
    names_alike = Sentence(
        ja="サーバー {other} と {server} は、記号を _ に置きかえると同じ名前になります。どちらかの名前を変えてください。",
        en="Servers {other} and {server} have the same name once each sign in it is a _. Rename one of them.",
    )
    no_name = Sentence(
        ja='名前が空のサーバーがあります（""）。名前を付けてください。',
        en='A server has an empty name (""). Give it one.',
    )
    comments = Sentence(
        ja="コメントや、最後の余分なコンマは使えません（{line} 行目の {column} 文字目）。消してください。",
        en="Comments, and commas after the last entry, are not supported (line {line}, column {column}). Remove them.",
    )
    """Parameters: line, column."""
    env_file = Sentence(
        ja="サーバー {server} の envFile には対応していません。変数は env に書いてください。",
        en="Server {server}: envFile is not supported here. Write the variables under env.",
    )
    input = Sentence(
        ja="サーバー {server} の {key} にある {input} には対応していません。環境変数にして、${{NAME}} と書いてください。",
        en="Server {server}: {input} in {key} is not supported here. Make it a variable of the environment: ${{NAME}}",
    )
    not_runnable = Sentence(
        ja="サーバー {server} の command は実行できません（フォルダか、実行の許可がないファイルです）。",
        en="Server {server}: what command names can't be run; it is a folder, or a file that is not executable.",
    )
    bad_name = Sentence(
        ja="サーバー {server}: 名前には半角の英数字と - _ . @ / と空白を使い、40文字までにしてください（__ は使えません）。",
        en="Server {server}: a name is made of letters, digits, - _ . @ / and blanks, with up to 40 characters and without __.",
    )
    unknown_key = Sentence(
        ja="サーバー {server} の {key} は知らないキーです。使えるキー: {keys}",
        en="Server {server} has a key that is not known: {key}. The keys are: {keys}",
    )
    wrong = Sentence(
        ja="サーバー {server} の {key} を直してください。正しい書き方: {expected}",
        en="Server {server}: {key} is not as it should be. Write it like this: {expected}",
    )
    not_set = Sentence(
        ja="サーバー {server} の {key} にある環境変数 {variable} が設定されていません。",
        en="Server {server}: the variable {variable} in {key} is not set.",
    )
    no_command = Sentence(
        ja="サーバー {server} の command のプログラムが見つかりません。インストールするか、パスを直してください。",
        en="Server {server}: the program that command names is not there. Install it or correct the path.",
    )
    sse = Sentence(
        ja='サーバー {server} の type の sse には対応していません。新しい方式の URL と "type": "http" を書いてください。',
        en='Server {server}: type "sse" is not supported. Give the URL of the newer way, with "type": "http".',
    )
    not_installed = Sentence(
        ja="ツールのサーバーを使うには追加のパッケージが要ります。make mcp を実行してください（pip なら pip install 'cc-bot[mcp]'）。",
        en="Servers with tools need one more package. Run: make mcp (with pip: pip install 'cc-bot[mcp]')",
    )
    over_budget = Sentence(
        ja="ツールの説明が合わせて {total} トークンで、CC_BOT_TOOL_TOKENS の {limit} を超えます（{each}）。cc_bot の tools で減らすか、上限を上げてください。",
        en="The tools take {total} tokens in each request, more than the {limit} of CC_BOT_TOOL_TOKENS ({each}). Name fewer of them under cc_bot.tools, or raise the limit.",
    )
    """Parameters: total, limit, each (each server with its tokens)."""
    command = Sentence(
        ja='"command": "uvx"（url とは一緒に書けません）', en='"command": "uvx" (and no url beside it)'
    )
    args = Sentence(ja='"args": ["mcp-server-time"]（文字列のリスト）', en='"args": ["mcp-server-time"]')
    folder = Sentence(ja='"cwd": "実際にあるフォルダ"', en='"cwd": "a folder that is there"')
    url = Sentence(
        ja='"url": "https://notes.example/mcp"（command とは一緒に書けません）',
        en='"url": "https://notes.example/mcp" (and no command beside it)',
    )
    kind = Sentence(ja='"type": "stdio" または "http"', en='"type": "stdio" or "http"')
    text = Sentence(ja='"3000" のような文字列', en='a text, as "3000"')
    no_nul = Sentence(ja="NUL 文字のない文字列", en="a text without the sign NUL")
    pairs = Sentence(ja='{{"NAME": "値"}}（文字列の組）', en='{{"NAME": "value"}} (pairs of texts)')
    table = Sentence(
        ja='"cc_bot": {{"approve": "writes"}}（オブジェクト）', en='"cc_bot": {{"approve": "writes"}}'
    )
    switch = Sentence(ja="true または false", en="true or false")
    patterns = Sentence(
        ja='["get_*", "list"]（ツールの名前のリスト）', en='["get_*", "list"] (a list of names of tools)'
    )
    approve = Sentence(ja='"never"、"writes"、"always" のどれか', en='"never", "writes" or "always"')
    approvers = Sentence(ja='"asker" または "owners"', en='"asker" or "owners"')
    timeout = Sentence(ja="秒数（600 まで）", en="a number of seconds (up to 600)")
    size = Sentence(ja="1 から 1000 までの整数（KB）", en="a whole number of KB from 1 to 1000")
    calls = Sentence(ja="1 から 100 までの整数", en="a whole number from 1 to 100")
    ids = Sentence(ja='["123456789012345678"]（ID のリスト）', en='["123456789012345678"] (a list of ids)')


class ToolServersTexts(Area):
    """The state of the servers, as `/admin tools` and `doctor` tell it."""

    title = Sentence(ja="🔌 ツールのサーバー", en="🔌 Servers with tools")
    none = Sentence(
        ja="ツールのサーバーはありません。data/mcp.json に書くと使えます。",
        en="There are no servers with tools. Name them in data/mcp.json.",
    )
    line = Sentence(
        ja="**{server}** — {state}・ツール {tools}・呼び出し {calls}（失敗 {failures}）・{tokens} トークン",
        en="**{server}** — {state}; tools: {tools}, calls: {calls} (failed: {failures}), tokens: {tokens}",
    )
    withheld = Sentence(
        ja="  ⚠️ 前と変わったので止めています: {tools} — </admin tools show> の server で確かめてから </admin tools accept>",
        en="  ⚠️ Held back, since they are not what they were: {tools}. Read them with </admin tools show> and its option server, then </admin tools accept>",
    )
    not_vouched = Sentence(
        ja="👀 ツールの説明がまだ確かめられていません（{servers}）。</admin tools accept> までは、このツールがある回答でのメモリやお知らせの変更は、すべてボタンを待ちます",
        en="👀 Nobody has looked at what these say of their tools: {servers}. Until </admin tools accept>, each change of memories or reminders in an answer that may use their tools waits for a press",
    )
    reasons: Both[Mapping[LeftOutReason, str]] = by_key(
        {
            "alike": Sentence(
                ja="記号を _ に置きかえると、ほかのツールと同じ名前になります",
                en="another one has the same name, once each sign in it is a _",
            ),
            "long_name": Sentence(
                ja="名前は1文字以上{most}文字までです", en="its name may have 1 to {most} characters"
            ),
            "too_large": Sentence(ja="引数の定義が大きすぎます", en="its schema is too large"),
            "no_schema": Sentence(
                ja="引数の定義が JSON Schema ではありません", en="its schema is no JSON schema"
            ),
            "no_object": Sentence(ja="引数がオブジェクトではありません", en="its arguments are no object"),
        }
    )
    left_out = Sentence(ja="  使えないもの: {tools}", en="  Left out: {tools}")
    accepted = Sentence(
        ja="「{server}」のいまのツールを使えるようにしました: {tools}",
        en="The tools that {server} has now can be used: {tools}",
    )
    accepted_none = Sentence(
        ja="確かめました。「{server}」に、いま使えるツールはありません。",
        en="Agreed. {server} has no tool now that can be used.",
    )
    more = Sentence(ja="…ほか {count}", en="… and {count} more")
    details = Sentence(
        ja="📄 ツールの名前・説明・引数です。止めているものは、認めたときの内容と並べてあります。",
        en="📄 The file has the name, the description and the arguments of each tool; of those held back, also what was agreed to.",
    )
    details_cut = Sentence(
        ja="⚠️ 長すぎるため、途中で切っています。",
        en="⚠️ It is too long, and cut where it is.",
    )
    details_none = Sentence(
        ja="まだ一度もつながっていないので、ツールが分かりません。",
        en="Its tools are not known yet: it was never there so far.",
    )
    details_file = Sentence(ja="ツール.txt", en="tools.txt")
    standing = Sentence(ja="状態: {standing}", en="State: {standing}")
    wording_agreed = Sentence(ja="【認めたときの内容】", en="[agreed to before]")
    wording_new = Sentence(ja="【いまの内容（まだ認めていません）】", en="[new: not agreed to yet]")
    wording_alike = Sentence(
        ja="（違いは、長すぎて省いた部分にあります）",
        en="(They differ in what is too long to be kept.)",
    )
    reads = Sentence(ja="サーバーによれば、読み取るだけです。", en="It only reads, according to its server.")
    writes = Sentence(ja="何かを変えるかもしれません。", en="It may change something.")
    waits = Sentence(ja="呼び出しはボタンを待ちます。", en="Calls wait for a press.")
    does_not_wait = Sentence(ja="呼び出しはボタンを待ちません。", en="Calls do not wait for a press.")
    description = Sentence(ja="説明:", en="Description:")
    arguments = Sentence(ja="引数:", en="Arguments:")
    schema_too_large = Sentence(ja="（長すぎるので省きました）", en="(too large to be kept)")
    standings: Both[Mapping[ToolStanding, str]] = by_key(
        {
            "offered": Sentence(ja="使えます", en="in use"),
            "new": Sentence(ja="止めています（新しいツールです）", en="held back: it is new"),
            "changed": Sentence(ja="止めています（前と変わりました）", en="held back: it is not what it was"),
            "gone": Sentence(ja="サーバーからなくなりました", en="gone: its server has it no more"),
            "left_out": Sentence(
                ja="モデルに渡せないので外しています", en="left out: no model can be told of it"
            ),
            "unnamed": Sentence(
                ja="cc_bot の tools・deny により使いません", en="not used, by cc_bot.tools or cc_bot.deny"
            ),
        }
    )
    nothing_to_accept = Sentence(
        ja="「{server}」に、新しく変わったところはありません。",
        en="Nothing of {server} waits to be accepted.",
    )
    states: Both[Mapping[ToolServerState, str]] = by_key(
        {
            "starting": Sentence(ja="起動中", en="starting"),
            "ready": Sentence(ja="使えます", en="ready"),
            "away": Sentence(ja="つながりません", en="not there"),
            "over_budget": Sentence(
                ja="トークンの上限を超えるので外しています", en="left out: over CC_BOT_TOOL_TOKENS"
            ),
        }
    )


def say_left_out(tools: Sequence[LeftOutTool], words: ToolServersTexts) -> str:
    """Name tools that are left out, each with the reason, on one line."""
    return one_line(
        "; ".join(f"{tool.name}: {words.reasons[tool.reason].format(most=tool.most)}" for tool in tools)
    )
