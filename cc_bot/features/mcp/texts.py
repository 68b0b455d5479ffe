from collections.abc import Mapping

from cc_bot.features.mcp.model import LeftOutReason, ToolServerProblemKind, ToolServerState, ToolStatus
from cc_bot.texts.area import Area, Both, Sentence, by_key


class ToolServersFileTexts(Area):
    """The sentences don't quote values of the file, which may be secret."""

    not_json = Sentence(ja="JSON として読めないところがあります（{line} 行目の {column} 文字目）。コメントと、最後の余分なコンマも使えません。", en="It is not valid JSON (line {line}, column {column}). Comments, and commas after the last entry, are not supported either.")
    file_not_an_object = Sentence(ja='空か、オブジェクトではありません。サーバーを使わないときは、{{"mcpServers": {{}}}} と書くか、ファイルを消してください。', en='It is empty, or not an object. For no servers, write {{"mcpServers": {{}}}} or remove the file.')
    value_not_an_object = Sentence(ja="{name} は {{ … }} の形（オブジェクト）にしてください。", en="{name} has to be an object: {{ … }}")
    unknown_key = Sentence(ja='{key} は知らないキーです。サーバーは "mcpServers"（または "servers"）の中に書いてください。', en='{key} is not a known key. Write servers under "mcpServers" (or "servers").')
    duplicate_key = Sentence(ja="{key} が2度書かれています。どちらかを消してください。", en="{key} appears twice. Remove one of them.")
    names_collide = Sentence(ja="サーバー {other} と {server} は、記号を _ に置きかえると同じ名前になります。どちらかの名前を変えてください。", en="Servers {other} and {server} have the same name once special characters become _. Rename one of them.")
    bad_name = Sentence(ja="サーバー {server}: 名前には半角の英数字と - _ . @ / と空白を使い、40文字までにしてください（__ は使えません）。", en="Server {server}: a name may contain letters, digits, spaces and - _ . @ /, but not __, and has up to 40 characters.")
    variable_not_set = Sentence(ja="サーバー {server} の {key} にある環境変数 {variable} が設定されていません。", en="Server {server}: the variable {variable} in {key} is not set.")
    variable_public = Sentence(
        ja="サーバー {server} の {key} に ${{{variable}}} は書けません。プロセスの一覧で誰にでも見えるので、env（HTTP なら headers）に書いてください。", en="Server {server}: ${{{variable}}} can't be used in {key}, because all users of this machine can read the process list. Use it in env (for HTTP, in headers)."
    )
    command_not_found = Sentence(ja="サーバー {server} の command のプログラムが見つかりません。インストールするか、パスを直してください。", en="Server {server}: the program named by command was not found. Install it or correct the path.")
    not_installed = Sentence(ja="ツールのサーバーを使うには追加のパッケージが要ります。make mcp を実行してください（wheel から入れたなら、名前のあとに [mcp] を付けて入れ直します）。", en="Servers with tools need an extra package. Run: make mcp (if installed from a wheel: install it again with [mcp] after its name)")
    over_budget = Sentence(
        ja="ツールの説明が合わせて {total} トークンで、CC_BOT_TOOL_TOKENS の {limit} を超えます（{each}）。cc_bot の tools で減らすか、上限を上げてください。",
        en="The tools take {total} tokens in each request, more than the {limit} of CC_BOT_TOOL_TOKENS ({each}). List fewer tools under cc_bot.tools, or raise the limit.",
    )
    expected: Both[Mapping[str, str]] = by_key(
        {
            "command": Sentence(ja='"command": "uvx"（url とは一緒に書けません）', en='"command": "uvx" (without url)'),
            "args": Sentence(ja='"args": ["mcp-server-time"]（文字列のリスト）', en='"args": ["mcp-server-time"]'),
            "cwd": Sentence(ja='"cwd": "実際にあるフォルダ"', en='"cwd": "an existing folder"'),
            "url": Sentence(ja='"url": "https://notes.example/mcp"（command とは一緒に書けません）', en='"url": "https://notes.example/mcp" (without command)'),
            "type": Sentence(ja='"type": "stdio" または "http"', en='"type": "stdio" or "http"'),
            **dict.fromkeys(("env", "headers"), Sentence(ja='{{"NAME": "3000"}}（どちらも文字列）', en='{{"NAME": "3000"}} (both are strings)')),
            "cc_bot": Sentence(ja='"cc_bot": {{"approve": "writes"}}（オブジェクト）', en='"cc_bot": {{"approve": "writes"}}'),
            **dict.fromkeys(("enabled", "dms", "disabled"), Sentence(ja="true または false", en="true or false")),
            **dict.fromkeys(("tools", "deny", "local"), Sentence(ja='["get_*", "list"]（ツールの名前のリスト）', en='["get_*", "list"] (a list of tool names)')),
            "approve": Sentence(ja='"never"、"writes"、"always" のどれか', en='"never", "writes" or "always"'),
            "approvers": Sentence(ja='"asker" または "owners"', en='"asker" or "owners"'),
            "timeout_s": Sentence(ja="秒数（600 まで）", en="a number of seconds (up to 600)"),
            "max_result_kb": Sentence(ja="1 から 1000 までの整数（KB）", en="a whole number of KB from 1 to 1000"),
            "calls_per_turn": Sentence(ja="1 から 100 までの整数", en="a whole number from 1 to 100"),
            **dict.fromkeys(("guilds", "channels", "roles"), Sentence(ja='["123456789012345678"]（ID のリスト）', en='["123456789012345678"] (a list of ids)')),
        }
    )


class ToolServersTexts(Area):
    title = Sentence(ja="🔌 ツールのサーバー", en="🔌 Servers with tools")
    none = Sentence(ja="ツールのサーバーはありません。data/mcp.json に書くと使えます。", en="There are no servers with tools. Add them to data/mcp.json.")
    server_line = Sentence(ja="**{server}** — {state}\n-# ツール {tools}・呼び出し {calls}（失敗 {failures}）・{tokens} トークン", en="**{server}** — {state}\n-# tools: {tools}, calls: {calls} (failed: {failures}), tokens: {tokens}")
    withheld = Sentence(ja="⚠️ 承認待ち: {tools}\n-# </admin tools show>（サーバーの名前）で読み、</admin tools accept> で使えます。", en="⚠️ To be accepted: {tools}\n-# Read them with </admin tools show> and the server's name, then use </admin tools accept>.")
    servers_to_report = Sentence(
        ja="🔌 「{server}」に、まだ認められていないツールがあるので止めています。</admin tools show> にサーバーの名前を付けて確かめてから、</admin tools accept> で使えるようになります。",
        en="🔌 {server} has tools that no owner has accepted yet, so they are held back. Read them with </admin tools show> and the server's name, then use </admin tools accept>.",
    )
    left_out_reasons: Both[Mapping[LeftOutReason, str]] = by_key(
        {
            "duplicate_name": Sentence(ja="そのままか、記号を _ に置きかえると、ほかのツールと同じ名前になります", en="another tool has the same name, at least once special characters become _"),
            "long_name": Sentence(ja="名前が空か、サーバーの名前と合わせて64文字を超えます", en="its name is empty, or too long together with the server's name (64 characters)"),
            "too_large": Sentence(ja="引数の定義が大きすぎます", en="its schema is too large"),
            "no_schema": Sentence(ja="引数の定義が JSON Schema ではありません", en="its schema is not a JSON schema"),
            "no_object": Sentence(ja="引数がオブジェクトではありません", en="its arguments are not an object"),
        }
    )
    left_out = Sentence(ja="-# 使えないもの: {tools}", en="-# Left out: {tools}")
    accepted = Sentence(ja="「{server}」のいまのツールを使えるようにしました: {tools}", en="The current tools of {server} can now be used: {tools}")
    accepted_none = Sentence(ja="確かめました。「{server}」に、いま使えるツールはありません。", en="Accepted. {server} has no tool that can be used now.")
    more = Sentence(ja="…ほか {count}", en="… and {count} more")
    details = Sentence(ja="📄 ツールの名前・説明・引数です。止めているものは、認めたときの内容と並べてあります。", en="📄 The file shows the name, description and arguments of each tool. For tools held back, it also shows the accepted version.")
    code = Sentence(ja="この内容でよければ、</admin tools accept> にこのコードを書いてください: `{code}`", en="If you agree to these tools, give this code to </admin tools accept>: `{code}`")
    details_cut = Sentence(ja="⚠️ 長すぎるため、途中で切っています。", en="⚠️ The file is too long and was cut.")
    details_none = Sentence(ja="まだ一度もつながっていないので、ツールが分かりません。", en="Its tools are not known yet, because the server has never been connected.")
    details_file = Sentence(ja="ツール.txt", en="tools.txt")
    status = Sentence(ja="状態: {status}", en="State: {status}")
    accepted_version = Sentence(ja="【認めたときの内容】", en="[accepted before]")
    new_version = Sentence(ja="【いまの内容（まだ認めていません）】", en="[new: not accepted yet]")
    equal_versions = Sentence(ja="（違いは、長すぎて省いた部分にあります）", en="(They differ in a part that is too long to be stored.)")
    only_reads = Sentence(ja="サーバーによれば、読み取るだけです。", en="According to its server, it only reads.")
    may_change = Sentence(ja="何かを変えるかもしれません。", en="It may change something.")
    needs_approval = Sentence(ja="呼び出しはボタンを待ちます。", en="Calls need approval.")
    local = Sentence(ja="サーバーか cc_bot の local によれば、呼び出しの内容はサーバーの外に出ません。", en="According to the server or cc_bot.local, calls stay inside the server.")
    open_world = Sentence(ja="呼び出しの内容が、サーバーの外に出るかもしれません。", en="Calls may reach beyond the server.")
    needs_no_approval = Sentence(ja="呼び出しはボタンを待ちません。", en="Calls need no approval.")
    description = Sentence(ja="説明:", en="Description:")
    arguments = Sentence(ja="引数:", en="Arguments:")
    schema_too_large = Sentence(ja="（長すぎるので省きました）", en="(too large to be stored)")
    statuses: Both[Mapping[ToolStatus, str]] = by_key(
        {
            "offered": Sentence(ja="使えます", en="in use"),
            "new": Sentence(ja="止めています（新しいツールです）", en="held back: it is new"),
            "changed": Sentence(ja="止めています（前と変わりました）", en="held back: it has changed"),
            "gone": Sentence(ja="サーバーからなくなりました", en="gone: its server no longer has it"),
            "left_out": Sentence(ja="モデルに渡せないので外しています", en="left out: models can't use it"),
            "not_allowed": Sentence(ja="cc_bot の tools・deny により使いません", en="not used, because of cc_bot.tools or cc_bot.deny"),
        }
    )
    nothing_to_accept = Sentence(ja="「{server}」に、新しく変わったところはありません。", en="{server} has nothing to accept.")
    states: Both[Mapping[ToolServerState, str]] = by_key({"starting": Sentence(ja="起動中", en="starting"), "ready": Sentence(ja="使えます", en="ready"), "away": Sentence(ja="つながりません", en="not connected"), "over_budget": Sentence(ja="トークンの上限を超えるので外しています", en="left out: over CC_BOT_TOOL_TOKENS")})


class McpCheckTexts(Area):
    tools = Sentence(ja="ツールのサーバー", en="Servers with tools")
    tools_none = Sentence(ja="ツールのサーバーはありません（data/mcp.json に書くと使えます）。", en="There are no servers with tools (add them to data/mcp.json).")
    tools_ok = Sentence(ja="ファイルを読めました（サーバー: {count}）。", en="The file can be read (servers: {count}).")
    tool_server_ok = Sentence(ja="{server}: 起動して確かめました。ツール {tools}、{tokens} トークン（管理者が </admin tools accept> で認めるまで、AI は使えません）", en="{server} starts and answers; tools: {tools}, tokens: {tokens}. Until an owner accepts them (</admin tools accept>), the model can't use them")
    tool_server_away = Sentence(ja="{server}: つながりません。{problem}\n→ command をターミナルで実行して、何が足りないか確かめてください（URL なら、開けるか確かめてください）。", en="{server} can't be reached: {problem}\n→ Run its command in a terminal to see what is missing, or check whether its URL can be opened.")
    tool_server_problems: Both[Mapping[ToolServerProblemKind, str]] = by_key(
        {
            "ended": Sentence(ja="プログラムがコード {detail} で終わりました。", en="the program ended with code {detail}."),
            "refused": Sentence(ja="接続を拒否されました。", en="connection refused."),
            "late": Sentence(ja="{seconds} 秒たっても応えません。", en="it does not answer within {seconds} s."),
            "closed": Sentence(ja="接続を閉じられました。", en="it closed the connection."),
            "error": Sentence(ja="エラーの種類: {detail}", en="the error is {detail}."),
        }
    )
    tool_server_none_fits = Sentence(ja="{server}: 使えるツールがありません。サーバーにあるもの: {tools}\n→ cc_bot の tools・deny の名前を、サーバーのツールに合わせてください。", en="{server} has no tool that may be used. It has: {tools}\n→ Correct the names under cc_bot.tools and cc_bot.deny.")
    tool_server_empty = Sentence(ja="{server}: ツールが1つもありません。\n→ args などの指定を確かめてください。要らないサーバーなら、ファイルから消してください。", en="{server} has no tools at all.\n→ Check its args, or remove it from the file.")
    tool_server_left_out = Sentence(ja="{server}: 使えないツールがあります: {tools}\n→ サーバーの作者に伝えるか、cc_bot の deny に書いてください。", en="{server} has tools that are left out: {tools}\n→ Tell the server's author, or list them under cc_bot.deny.")
    agent_tools_missing = Sentence(ja="エージェント {agent} の次のツールは、どのサーバーにもありません: {tools}\n→ agents.toml の名前を直すか、サーバーを data/mcp.json に書いてください。", en="The agent {agent} names tools that no server has: {tools}\n→ Correct agents.toml, or add their server to data/mcp.json.")
