from cc_bot.domain.errors import InputError

SubjectNotUnderstood = InputError.define("SubjectNotUnderstood", ja="相手が読み取れませんでした。@人、@ロール、#チャンネル、またはIDと「区分」で指定してください。", en="I can't tell whom that means. Give @user, @role, #channel, or an id with its kind.", fields="subject id")
IdNotUnderstood = SubjectNotUnderstood.define("IdNotUnderstood", ja="IDが読み取れませんでした。Discord の「IDをコピー」で分かる数字を入れてください。", en="I can't read that id. Please enter the number that Discord's “Copy ID” gives.", fields="id")
ModelsNotUnderstood = InputError.define("ModelsNotUnderstood", ja="モデルの名前が読み取れませんでした。名前をコンマで区切って、5つまで書いてください。", en="I can't read those names. Give up to five models, separated by commas.", fields="models")
LimitNotUnderstood = InputError.define("LimitNotUnderstood", ja="制限が読み取れませんでした。制限を選び、1以上の整数を書いてください。空のままなら、制限なしになります。", en="I can't read that limit. Choose which one, and write a whole number from 1 on; nothing means no limit.", fields="value")
LimitNotForServers = InputError.define("LimitNotForServers", ja="この制限は、全員・人・ロールごとに決められます。サーバー全体では決められません。", en="This limit is for everyone, a user or a role. A server can't have one.")
LimitNotForChannels = InputError.define("LimitNotForChannels", ja="制限は、全員・人・ロール・サーバーごとに決められます。チャンネルごとには決められません。", en="Limits are for everyone, a user, a role or a server. A channel can't have one.")
