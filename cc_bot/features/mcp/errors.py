from cc_bot.domain.errors import InputError, StartupError

ToolServerUnknown = InputError.define("ToolServerUnknown", ja="その名前のツールのサーバーはありません。</admin tools show> で名前を確かめてください。", en="There is no server with tools of that name. </admin tools show> lists the names.")
ToolListChanged = InputError.define("ToolListChanged", ja="コードがいまのツールのものではないため、何も承認していません。</admin tools show> にサーバーの名前を付けて、いまの内容とコードを確かめてください。", en="The code is not that of the current tools, so nothing was accepted. Read the tools again with </admin tools show> and the server's name, and use the code given there.")
InvalidToolServers = StartupError.define("InvalidToolServers", ja="ツールのサーバーの設定ファイル {path} を読めません。{detail}", en="The file of servers with tools {path} can't be read. {detail}")
