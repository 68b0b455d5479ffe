from cc_bot.domain.errors import InputError, StartupError, ToolServerError

SecretAsked = ToolServerError.define("SecretAsked", ja="「{server}」がパスワードのような秘密をたずねてきたので、断りました。", en="“{server}” asked for a secret, such as a password, so its question was declined.")
FormUnsuitable = ToolServerError.define("FormUnsuitable", ja="「{server}」の質問は、ここでは答えられない形だったので、断りました。", en="“{server}” asked something that can't be answered here, so its question was declined.")
FieldEmpty = InputError.define("FieldEmpty", ja="「{name}」を書いてください。", en="“{name}” is needed. Please fill it in.")
FieldNotANumber = InputError.define("FieldNotANumber", ja="「{name}」は数字で書いてください。", en="“{name}” has to be a number.")
FieldNotAWholeNumber = InputError.define("FieldNotAWholeNumber", ja="「{name}」は整数で書いてください。", en="“{name}” has to be a whole number.")
FieldNotYesOrNo = InputError.define("FieldNotYesOrNo", ja="「{name}」は「はい」か「いいえ」で書いてください。", en="“{name}” has to be “yes” or “no”.")
FieldNotAChoice = InputError.define("FieldNotAChoice", ja="「{name}」は次の中から選んで書いてください: {known}", en="“{name}” has to be one of: {known}")
FieldOutOfBounds = InputError.define("FieldOutOfBounds", ja="「{name}」は {expected} の範囲で書いてください。", en="“{name}” has to be within {expected}.")
FieldLengthOutOfBounds = FieldOutOfBounds.define("FieldLengthOutOfBounds", ja="「{name}」は {expected} 文字で書いてください。", en="“{name}” has to have {expected} characters.")
ToolServerUnknown = InputError.define("ToolServerUnknown", ja="その名前のツールのサーバーはありません。</admin tools show> で名前を確かめてください。", en="There is no server with tools of that name. </admin tools show> lists the names.")
ToolListChanged = InputError.define("ToolListChanged", ja="コードがいまのツールのものではないため、何も承認していません。</admin tools show> にサーバーの名前を付けて、いまの内容とコードを確かめてください。", en="The code is not that of the current tools, so nothing was accepted. Read the tools again with </admin tools show> and the server's name, and use the code given there.")
InvalidToolServers = StartupError.define("InvalidToolServers", ja="ツールのサーバーの設定ファイル {path} を読めません。{detail}", en="The file of servers with tools {path} can't be read. {detail}")
