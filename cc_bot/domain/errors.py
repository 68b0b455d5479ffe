"""Errors shown to users, the operator or the model: the cause, and what to do next. A name in braces is a
parameter of the error; `</memory add>` marks a command (texts/area.py)."""

from datetime import datetime
from typing import ClassVar, Self, TypeVar

Error = TypeVar("Error", bound=BaseException)


class CcBotError(Exception):
    """Keyword arguments are the parameters of the text."""

    ja: ClassVar[str] = "うまくいきませんでした。もう一度お試しください。"
    en: ClassVar[str] = "Something went wrong. Please try again."
    fields: ClassVar[str] = ""  # the form fields that may be wrong, the likeliest first

    def __init__(self, **params: str | int | datetime) -> None:
        super().__init__(type(self).__name__, params)
        self.params = params

    @classmethod
    def define(cls, name: str, *, ja: str, en: str, fields: str = "") -> type[Self]:
        return type(name, (cls,), {"ja": ja, "en": en, "fields": fields or cls.fields})


def drop_tracebacks(error: Error) -> Error:
    """Remove tracebacks of a handled error and its causes. Their frames form reference cycles, which keep
    files in memory until the next garbage collection."""
    current: BaseException | None = error
    while current:
        context, current.__context__ = current.__context__, None
        current.__cause__ = current.__traceback__ = None
        current = context
    return error


class ToolServerError(CcBotError): ...


ToolServerUnavailable = ToolServerError.define("ToolServerUnavailable", ja="いまは「{server}」につながらないため、使えません。しばらくしてから、もう一度お試しください。", en="“{server}” is not available now. Please try again in a while.")
CallPostponed = ToolServerError.define("CallPostponed", ja="いまは「{server}」につながらないため、まだ実行していません。しばらくしてから、期限（{minutes}分）のうちにもう一度お試しください。", en="“{server}” is not available now, so this has not been done yet. Please try again in a while, within {minutes} minutes.")
ToolGone = ToolServerError.define("ToolGone", ja="このツールは、もう使えません。", en="This tool is no longer available.")
ToolTimedOut = ToolServerError.define("ToolTimedOut", ja="「{server}」が {seconds} 秒たっても応えないので、打ち切りました。実行された可能性があります。", en="“{server}” did not answer within {seconds} seconds, so I gave up. The call may have been carried out.")
ToolCallLost = ToolServerError.define("ToolCallLost", ja="実行の途中で「{server}」との接続が切れました。実行されたかどうかは分からないので、繰り返す前に確かめてください。", en="The connection to “{server}” was lost during the call. The call may have been carried out: please check before you repeat it.")


class AccessError(CcBotError):
    ja = "この操作は、ここでは使えません。"
    en = "That can't be done here."


NotAllowed = AccessError.define("NotAllowed", ja="このボットは、ここではお使いいただけない設定になっています。使いたいときはボットの管理者にお知らせください。", en="This bot is set up not to answer here. If you would like to use it, tell the bot's operator.")
OwnersOnly = AccessError.define("OwnersOnly", ja="この操作は、ボットの管理者だけが使えます。", en="Only the bot's owners can do that.")
UnderMaintenance = AccessError.define("UnderMaintenance", ja="ただいまメンテナンス中です。しばらくしてから、もう一度お試しください。{note}", en="I'm down for maintenance. Please try again in a while.{note}")
NotSignedIn = AccessError.define("NotSignedIn", ja="サインインしていません。Discord で </web> を実行すると、ページを開くリンクが届きます。", en="You are not signed in. Use </web> on Discord to get a link to your pages.")
LinkExpired = AccessError.define("LinkExpired", ja="10分たったか、もう使われています。\nDiscord で `</web>` を送ると、新しいリンクが届きます。", en="It was used already, or is older than 10 minutes.\nSend `</web>` on Discord to get a new one.")
TooManyLinks = AccessError.define("TooManyLinks", ja="使えないリンクが続いています。1分ほど待ってから、新しいリンクでお試しください。", en="Too many invalid links were opened. Please wait a minute, then use a new link.")
ForeignRequest = AccessError.define("ForeignRequest", ja="このページの外から届いた操作なので、何も変えていません。ページを開き直してお試しください。", en="That request did not come from this page, so nothing was changed. Please open the page again and retry.")
PageOfAnother = AccessError.define("PageOfAnother", ja="このページを開いたあと、このブラウザで別の方がサインインしたので、何も変えていません。ページを開き直してください。", en="Somebody else has since signed in with this browser, so nothing was changed. Please open the page again.")
ForeignHost = AccessError.define("ForeignHost", ja="このアドレスからはページを開けません。Discord で </web> を実行して届くリンクから開いてください。", en="The pages can't be opened at this address. Use </web> on Discord to get a link to them.")
TooManyRequests = AccessError.define("TooManyRequests", ja="操作が続いています。少し待ってから、もう一度お試しください。", en="That was a lot at once. Please wait a moment and try again.")
RequestTooLarge = AccessError.define("RequestTooLarge", ja="送られた内容が大きすぎます（ファイルは 1 MB まで）。小さく分けてお試しください。", en="That is too large to send (files: up to 1 MB). Please send it in smaller parts.")
NothingHere = AccessError.define("NothingHere", ja="お探しのものは、消えたか、アドレスが違うようです。\n一覧から開き直してください。", en="What you are looking for was deleted, or its address is wrong.\nPlease open it from its list.")
ConversationNotFound = NothingHere.define("ConversationNotFound", ja="この会話は、もうありません。消したか、保存する期間が過ぎています。", en="This chat is gone: it was deleted, or it was older than chats are kept.")


class TooManyCommands(AccessError):
    """`reported`: the user was informed already."""

    ja = "操作が続いています。次に使えるのは{resets}です。少し待ってから、もう一度お試しください。"
    en = "That was a lot at once. Please try again {resets}."

    def __init__(self, *, reported: bool = False, **params: str | int | datetime) -> None:
        super().__init__(**params)
        self.reported = reported


class InputError(CcBotError):
    ja = "入力を確かめて、もう一度お試しください。"
    en = "Please check what you entered and try again."


EmptyQuestion = InputError.define("EmptyQuestion", ja="質問が空です。聞きたいことを書いて、もう一度送ってください。", en="The question is empty. Write what you would like to know and send it again.")
QuestionTooLong = InputError.define("QuestionTooLong", ja="質問が長すぎます（{length}文字）。{limit}文字までにするか、テキストファイルで添付してください。", en="The question is too long ({length} characters). Keep it under {limit}, or attach it as a text file.")
EarlierFilesInProgress = InputError.define("EarlierFilesInProgress", ja="前のファイルをまだ処理しています。終わってから、もう一度お試しください。", en="I'm still working on your earlier files. Please try again when they are done.")
SecretNotStored = InputError.define("SecretNotStored", ja="パスワードやカード番号のように見えるため、保存しませんでした。大切な情報は専用の管理アプリでの保管をお勧めします。", en="That looks like a password, token, key or card number, so I did not store it. Please keep it in a password manager.", fields="content")
MemoryPaused = InputError.define("MemoryPaused", ja="メモリは一時停止中です。</memory resume> で再開できます。", en="Memory is paused. Resume it with </memory resume>.")
CanvasSwitched = InputError.define("CanvasSwitched", ja="別のエージェントのキャンバスに切り替わったので、何も外していません。ページを開き直してお試しください。", en="Another agent's canvas is shown now, so nothing was removed. Please open the page again and retry.")
UnknownTimezone = InputError.define("UnknownTimezone", ja="そのタイムゾーンは見つかりません。東京 や Asia/Tokyo のような名前で指定してください。", en="I don't know that time zone. Please give a city like London, or a name like Europe/London.", fields="timezone")
ScheduleNotFound = InputError.define("ScheduleNotFound", ja="#{id} のお知らせは見つかりません。</remind list> で番号を確かめてください。", en="There is no reminder #{id}. See </remind list> for the numbers.")
ProposalGone = InputError.define("ProposalGone", ja="この提案はもう決まっているか、取り下げられたか、期限が過ぎています。必要なら、もう一度お聞きください。", en="This was already decided, was withdrawn, or has expired. Ask again if you still want it.")
ProposalOutdated = InputError.define("ProposalOutdated", ja="提案のあとに元の内容が変わったので、何もしていません。必要なら、もう一度お聞きください。", en="The item has changed since this was proposed, so nothing was done. Ask again if you still want it.")
WhenNotUnderstood = InputError.define("WhenNotUnderstood", ja="いつなのかが読み取れませんでした。「10分後」「明日9時」「12月3日 18:00」のように書いてください。", en="I can't tell when that is. Write it like: in 10 minutes, tomorrow at 9am, Dec 3 18:00.", fields="when repeat")
NoSuchTime = WhenNotUnderstood.define("NoSuchTime", ja="「{when}」という日付や時刻はありません。日にち、曜日、時刻を確かめてください。", en="There is no such date or time: “{when}”. Please check the day, the weekday and the time.")
SeveralTimes = InputError.define("SeveralTimes", ja="時刻がいくつもあります。お知らせ1件につき時刻は1つなので、分けて予約してください。毎日なら「毎日9時と18時」のように書けます。", en="Those are several times. A reminder has one time, so please set them one by one. A daily reminder may have several: every day at 9 and 18:00.", fields="when repeat")
WhenPassed = InputError.define("WhenPassed", ja="その時刻はもう過ぎています。これからの時刻を書いてください。", en="That time has passed. Please give a time in the future.", fields="when repeat")
WhenTooFar = InputError.define("WhenTooFar", ja="先すぎます。{limit}年先までの時刻を書いてください。", en="That is too far in the future. Please give a time within {limit} years.", fields="when repeat")
RepeatNotUnderstood = InputError.define("RepeatNotUnderstood", ja="繰り返しが読み取れませんでした。「毎日9時と18時」「月水金 7:30」「隔週の火曜 10時」「3日ごとに8時」「毎月第2水曜」「毎月末」のように書いてください。", en="I can't tell how that repeats. Write it like: every day at 8am and 6pm, mon/wed/fri 7:30, every other Tuesday at 10, every 3 days at 8, every 2nd Wednesday of the month, on the last day of every month.", fields="repeat when")
RepeatAmbiguous = RepeatNotUnderstood.define("RepeatAmbiguous", ja="「○日おき」は二通りに読めます（2日おきなら、2日ごととも3日ごととも）。「○日ごと」の形で書いてください。", en="“Every second Tuesday” can be read in two ways. Write “every other Tuesday” or “every 2nd Tuesday of the month”.")
RepeatTooOften = InputError.define("RepeatTooOften", ja="繰り返しは1時間に1回までです。間隔をもっと空けてください。", en="A reminder repeats at most once an hour. Please choose a longer interval.", fields="repeat when")
AttachmentTooLarge = InputError.define("AttachmentTooLarge", ja="添付ファイルが大きすぎます。{limit}までのファイルを添付してください。", en="The attachment is too large. Please attach a file of up to {limit}.")
AttachmentNotSupported = InputError.define("AttachmentNotSupported", ja="このファイルは読めません。画像（PNG・JPEG・GIF・WebP）、テキスト、文書（PDF・Word・Excel・PowerPoint・EPUBなど）、音声（OGG・MP3・M4A・WAV・WebM）を添付してください。", en="I can't read this file. Please attach an image (PNG, JPEG, GIF, WebP), a text file, a document (PDF, Word, Excel, PowerPoint, EPUB and others) or a recording (OGG, MP3, M4A, WAV, WebM).")
AttachmentNotFetched = InputError.define("AttachmentNotFetched", ja="添付ファイルを受け取れませんでした。もう一度添付して送ってください。", en="I could not download the attachment. Please attach it again and send it.")
DocumentUnreadable = InputError.define("DocumentUnreadable", ja="このファイルは開けませんでした。壊れているか、複雑すぎるようです。保存し直すか、必要なところだけを送ってください。", en="I could not open this file: it seems damaged or too complex. Please save it again, or send the part that matters.")
DocumentLocked = InputError.define("DocumentLocked", ja="このファイルにはパスワードがかかっています。パスワードを外して、もう一度送ってください。", en="This file is protected by a password. Please remove the password and send it again.")
DocumentTooLong = InputError.define("DocumentTooLong", ja="この文書は長すぎます。必要なところだけを分けて送ってください。1,000ページ、10万セル、100万字まで読めます。", en="This document is too long. Please send the part that matters: up to 1,000 pages, 100,000 cells or a million characters.")
DocumentOldFormat = InputError.define("DocumentOldFormat", ja="古い形式（.doc・.xls・.ppt・.rtfなど）のファイルは読めません。Officeなどで開き、.docx・.xlsx・.pptxかPDFで保存し直して、もう一度送ってください。", en="I can't read the old formats (.doc, .xls, .ppt, .rtf). Please open the file in Office, save it as .docx, .xlsx, .pptx or PDF, and send it again.")
DocumentReaderBusy = InputError.define("DocumentReaderBusy", ja="今はほかのファイルを読んでいて、手が回りませんでした。少し待って、もう一度送ってください。", en="I am busy reading other files right now. Please wait a moment and send it again.")
DocumentsNotInstalled = InputError.define("DocumentsNotInstalled", ja="このボットは、PDFとExcelを読む準備ができていません。文章をテキストで送るか、ボットの管理者にお知らせください。", en="This bot is not set up to read PDF and Excel. Please tell the bot's operator, or send the text itself.")
DocumentsNotConfined = InputError.define("DocumentsNotConfined", ja="このボットが動いているシステムでは文書を安全に読めないため、開きませんでした。文章をテキストで送るか、ボットの管理者にお知らせください。", en="I did not open this document: the system I run on can't read it safely. Please tell the bot's operator, or send the text itself.")
RecordingTooLong = InputError.define("RecordingTooLong", ja="音声が長すぎます。{minutes}分までにするか、分けて送ってください。", en="The recording is too long. Please keep it under {minutes} minutes, or send it in parts.")
RecordingEmpty = InputError.define("RecordingEmpty", ja="音声の長さが0秒でした。録音し直して、もう一度送ってください。", en="The recording is 0 seconds long. Please record it again and send it.")
TranscriptionUnavailable = InputError.define("TranscriptionUnavailable", ja="🎤 このボットは音声を聞き取れません。お手数ですが、文字で送ってください。", en="🎤 I can't listen to voice messages here. Please type it instead.")
NothingToRead = InputError.define("NothingToRead", ja="このメッセージには、読めるものがありません。文章や画像のあるメッセージで選んでください。", en="There is nothing to read in this message. Choose one with text or a picture.")
NothingToTranslate = InputError.define("NothingToTranslate", ja="このメッセージには、翻訳する文章がありません。文章のあるメッセージで選んでください。", en="There is no text to translate in this message. Choose one with text.")
ChosenMessageHidden = InputError.define("ChosenMessageHidden", ja="そのメッセージは、もう私からは見えません。まだ残っていれば、メッセージのメニューからもう一度選んでください。", en="I can no longer see that message. If it is still there, please choose the command from its menu again.")
ConversationNotShown = InputError.define("ConversationNotShown", ja="ここでのやりとりは、私には読めません。私がいて、メッセージ履歴を読めるチャンネルでお試しください。", en="I can't read this conversation. Please try in a channel that I am in and whose message history I may read.")


class StartupError(CcBotError):
    ja = "起動できませんでした。設定を確かめてください。"
    en = "cc-bot could not start. Please check its settings."


InvalidSetting = StartupError.define("InvalidSetting", ja="設定 {name} の値が正しくありません。たとえば {expected} のように書いてください。", en="The setting {name} is not valid. Write it like this, for example: {expected}")
InvalidValue = InvalidSetting.define("InvalidValue", ja="設定 {name} の値「{value}」が正しくありません。たとえば {expected} のように書いてください。", en="The setting {name} is not valid: “{value}”. Write it like this, for example: {expected}")
UnknownSetting = StartupError.define("UnknownSetting", ja="{name} という設定はありません。{nearest} ではありませんか。", en="There is no setting {name}. Did you mean {nearest}?")
ShardCountMissing = StartupError.define("ShardCountMissing", ja="CC_BOT_SHARDSを使うときは、CC_BOT_SHARD_COUNTにシャードの総数も書いてください。", en="With CC_BOT_SHARDS, CC_BOT_SHARD_COUNT must give the total number of shards.")
ShardsOutOfRange = StartupError.define("ShardsOutOfRange", ja="シャードの番号は 0 から数えます。CC_BOT_SHARDSは 0-{last} の範囲で書いてください。", en="Shards are numbered from 0. Write CC_BOT_SHARDS within 0-{last}")
ShardsNotShared = StartupError.define("ShardsNotShared", ja="SQLiteのファイルを使えるプロセスは一つだけなので、シャードを分けられません。PostgreSQLを使うか、CC_BOT_SHARDSを 0-{last} にしてください。", en="Only one process can use an SQLite file, so no other process can run the other shards. Use PostgreSQL, or set CC_BOT_SHARDS to 0-{last}")
PagesNotEncrypted = StartupError.define("PagesNotEncrypted", ja="CC_BOT_WEB_HOST が {host} だと、ほかのマシンからもページが開けます。CC_BOT_WEB_URL に、https:// で始まるページのアドレスを書いてください。", en="With CC_BOT_WEB_HOST={host}, other machines can open the pages. Set CC_BOT_WEB_URL to their address, which must begin with https://")
SettingsUnreadable = StartupError.define("SettingsUnreadable", ja="設定ファイル {path} を読めません。読み取りの権限を確かめるか、別のフォルダで実行してください。", en="The settings in {path} can't be read. Check the permission, or run this in another folder.")
InvalidModels = StartupError.define("InvalidModels", ja="モデルの設定ファイル {path} を使えません。{detail}", en="The model settings file {path} can't be used. {detail}")
MissingToken = StartupError.define("MissingToken", ja="DISCORD_TOKEN が設定されていません。.env に DISCORD_TOKEN=… と書くか、トークンなしで試すには cc-bot chat を使ってください。", en="DISCORD_TOKEN is not set. Put DISCORD_TOKEN=… into .env, or try cc-bot without a token: cc-bot chat")
RefusedToken = StartupError.define("RefusedToken", ja="Discord のトークンが正しくありません。\n→ 全体を貼り付けたか確かめてください。それでも使えなければ、Developer Portal の Bot で発行し直してください（古いトークンは使えなくなります）。", en="The Discord token is not valid.\n→ Check that you pasted all of it. If you did, reset it in the Developer Portal under Bot (the old token stops working).")
DiscordUnreachable = StartupError.define("DiscordUnreachable", ja="Discord につながりませんでした。ネットワークと DISCORD_API_URL を確かめて、もう一度起動してください。", en="Discord can't be reached. Check the network and DISCORD_API_URL, then start again.")
MessageContentRefused = StartupError.define("MessageContentRefused", ja="Discord が、すべてのメッセージを読むことを認めませんでした。Developer Portal の Bot で Message Content Intent を有効にするか、CC_BOT_CHANNELS=mentions にして、起動し直してください。", en="Discord does not let this bot read all messages. Enable the Message Content Intent in the Developer Portal under Bot, or set CC_BOT_CHANNELS=mentions, then start again.")
CommandsNotRegistered = StartupError.define("CommandsNotRegistered", ja="コマンドを登録できなかったので、起動をやめました（{detail}）。", en="The commands could not be registered, so cc-bot did not start ({detail}).")
AlreadyRunning = StartupError.define("AlreadyRunning", ja="別の cc-bot が {path} を使っています。そちらを止めてから起動してください。", en="Another cc-bot is using {path}. Stop that one first.")
ShardsTaken = StartupError.define("ShardsTaken", ja="{host} で動いている cc-bot が、同じデータベースでシャード {theirs} を受け持っています。ここで起動しようとしたのは {ours} です（* はすべて）。そちらを止めるか、重ならない CC_BOT_SHARDS と同じ CC_BOT_SHARD_COUNT を指定してください。", en="A cc-bot on {host} already runs shards {theirs} with this database, and this one is set to run {ours} (* means all). Stop the other one, or set CC_BOT_SHARDS to shards that it does not run, with the same CC_BOT_SHARD_COUNT.")
DatabaseInUse = StartupError.define("DatabaseInUse", ja="{path} を開いているプログラムがあります（cc-bot chat や Litestream など）。すべて止めてから、もう一度実行してください。", en="A program has {path} open (such as cc-bot chat or Litestream). Stop all such programs, then run this again.")
DatabaseFolderMissing = StartupError.define("DatabaseFolderMissing", ja="データベースのフォルダ {path} がありません。作成するか、{setting} を直してください。", en="The database folder {path} does not exist. Create it or correct {setting}.")
DatabaseMissing = StartupError.define("DatabaseMissing", ja="データベース {path} がありません。CC_BOT_DATABASE_URL を確かめてください。", en="There is no database at {path}. Check CC_BOT_DATABASE_URL.")
DatabaseUnusable = StartupError.define("DatabaseUnusable", ja="データベース {path} を開けません。ファイルの中身と読み書きの権限を確かめてください。壊れているときは cc-bot restore でバックアップから戻せます。", en="The database {path} can't be opened. Check the file and the permissions to read and write it. If it is damaged, restore a backup with cc-bot restore.")
DatabaseNewer = StartupError.define("DatabaseNewer", ja="データベース {path} は新しい cc-bot のものです（版 {found}、この cc-bot は {known} まで）。cc-bot を更新してください。", en="The database {path} was written by a newer cc-bot (version {found}; this one knows {known}). Update cc-bot.")
SchemaChanged = StartupError.define("SchemaChanged", ja="データベース {path} の {name} がないか、cc-bot の作る形と違うため、起動をやめました。cc-bot を更新したところなら、cc-bot copy --to URL で空のデータベースに移してください。ご自分で加えたものなら取り除くか名前を変え、覚えがなければ cc-bot restore でバックアップから戻してください。", en="In the database {path}, {name} is missing or differs from what cc-bot creates, so cc-bot did not start. If you have just updated cc-bot, copy the database into an empty one with cc-bot copy --to URL. If you added {name} yourself, remove or rename it; otherwise restore a backup with cc-bot restore.")
DatabaseNotOurs = StartupError.define("DatabaseNotOurs", ja="{path} は cc-bot のデータベースに見えないので、手を付けませんでした。CC_BOT_DATABASE_URL を確かめてください。正しければ、このファイルを別の場所に移してください。", en="{path} does not look like a cc-bot database, so it was left unchanged. Check CC_BOT_DATABASE_URL; if it is right, move the file elsewhere.")
SqliteTooOld = StartupError.define("SqliteTooOld", ja="Python に付属の SQLite {found} は古すぎます（{needed} 以上が必要です）。Python を新しくしてください。", en="The SQLite {found} of this Python is too old ({needed} or newer is needed). Install a newer Python.")
PostgresTooOld = StartupError.define("PostgresTooOld", ja="PostgreSQL {found} は古すぎます（{needed} 以上が必要です）。サーバーを新しくしてください。", en="PostgreSQL {found} is too old ({needed} or newer is needed). Upgrade the server.")
PostgresNotUtf8 = StartupError.define("PostgresNotUtf8", ja="データベース {url} の文字コードは {found} なので、日本語を保存できません。createdb --encoding=UTF8 --template=template0 で作り直してください。", en="The database {url} has the encoding {found}, which can't store Japanese. Create it again: createdb --encoding=UTF8 --template=template0")
PostgresRefused = StartupError.define("PostgresRefused", ja="{url} に接続できません。{setting} のユーザー名、パスワード、データベース名を確かめてください（{reason}）。", en="cc-bot can't connect to {url}. Check the user, the password and the database in {setting} ({reason}).")
SqliteOnly = StartupError.define("SqliteOnly", ja="cc-bot {command} は SQLite のファイルのためのコマンドです。PostgreSQL では、控えは pg_dump、復元は pg_restore のあとに cc-bot erasures apply、削除は dropdb で行ってください。", en="cc-bot {command} is for SQLite files. With PostgreSQL, back up with pg_dump, restore with pg_restore followed by cc-bot erasures apply, and delete with dropdb.")
EngineMissing = StartupError.define("EngineMissing", ja="このデータベースには追加のパッケージが要ります。make {extra} を実行してください（wheel から入れたなら、名前のあとに [{extra}] を付けて入れ直します）。", en="This database needs an additional package. Run: make {extra} (if installed from a wheel: install it again with [{extra}] after its name)")
PostgresInUse = StartupError.define("PostgresInUse", ja="{path} を、ほかの cc-bot が使っています（別のマシンかもしれません）。すべて止めてから、もう一度実行してください。", en="Another cc-bot is using {path}, maybe on another machine. Stop all of them, then run this again.")
SameDatabase = StartupError.define("SameDatabase", ja="コピー元とコピー先が同じデータベースです。--from と --to を確かめてください。", en="The source and the target are the same database. Check --from and --to.")
CopySourceMissing = StartupError.define("CopySourceMissing", ja="コピー元のデータベース {path} がありません。--from を確かめてください。", en="There is no database to copy at {path}. Check --from.")
CopyTargetOccupied = StartupError.define("CopyTargetOccupied", ja="コピー先 {path} は空ではありません（表 {name} に行があります）。何も入っていないデータベースを --to に書いてください。", en="{path} is not empty: its table {name} has rows. Use an empty database for --to.")
CopyStopped = StartupError.define("CopyStopped", ja="何もコピーしていません。直してから、同じコマンドをもう一度実行してください。", en="Nothing was copied. Once the problem is fixed, run the same command again.")
CopyRefused = StartupError.define("CopyRefused", ja="コピー元の表 {name} の行は {path} に入りません。ありえない値や、つながる相手のない行があるようです。何もコピーしていません。コピー元を cc-bot doctor で確かめるか、バックアップから戻したものをコピーしてください。", en="{path} does not accept the rows of the table {name}: some have an invalid value, or refer to rows that do not exist. Nothing was copied. Check the source with cc-bot doctor, or copy a restored backup instead.")
ErasuresNotFound = StartupError.define("ErasuresNotFound", ja="消去の記録 {path} がありません。場所を確かめてください。まだ何も消していません。", en="There is no erasure log at {path}. Check the path; nothing has been erased yet.")
ErasuresBroken = StartupError.define("ErasuresBroken", ja="消去の記録 {path} の{line}行目を読めません。読める記録を使ってください。まだ何も消していません。", en="Line {line} of the erasure log {path} can't be read. Use an intact copy; nothing has been erased yet.")
BackupFailed = StartupError.define("BackupFailed", ja="バックアップを {path} に書き込めませんでした。空き容量と書き込みの権限を確かめてください。", en="The backup could not be written to {path}. Check the free space and the write permission.")
InvalidPolicy = StartupError.define("InvalidPolicy", ja="設定ファイル {path} を読めません。{detail}", en="The file {path} can't be read. {detail}")
PortTaken = StartupError.define("PortTaken", ja="{host}:{port} は別のプログラムが使っています。{setting} を変えて、起動し直してください。", en="Another program listens on {host}:{port}. Change {setting}, then start again.")
NotEnoughRoom = StartupError.define("NotEnoughRoom", ja="{path} の空き容量が足りません（必要 {needed}、空き {free}）。空きを増やして、もう一度実行してください。", en="There is not enough free space at {path} ({needed} needed, {free} free). Free some space and run this again.")
OldBackupsKept = StartupError.define("OldBackupsKept", ja="{made} にバックアップしましたが、{path} の古いバックアップを消せませんでした。書き込みの権限を確かめてください。", en="Backed up to {made}, but old backups in {path} could not be deleted. Check the write permission.")
OutputLost = StartupError.define("OutputLost", ja="結果を書き出せませんでした（{reason}）。出力先を確かめてください。", en="The output could not be written ({reason}). Check where it goes.")
BackupMissing = StartupError.define("BackupMissing", ja="{path} というバックアップのファイルはありません。ファイルの名前を確かめてください。", en="There is no backup file {path}. Check the file name.")
BackupDamaged = StartupError.define("BackupDamaged", ja="バックアップ {path} は壊れているか、cc-bot のデータベースではありません。別のバックアップを選んでください。", en="The backup {path} is damaged or not a cc-bot database. Choose another one.")
BackupChanged = StartupError.define("BackupChanged", ja="バックアップ {path} の {name} は、足りないか、cc-bot が作る形と違います。別のバックアップを選んでください。", en="In the backup {path}, {name} is missing or differs from what cc-bot creates. Choose another one.")
RestoreFailed = StartupError.define("RestoreFailed", ja="{path} に復元できませんでした。データベースは元のままです。空き容量と、バックアップを読む権限、書き込む権限を確かめてください。", en="The backup could not be restored to {path}; the database is unchanged. Check the free space, and the permissions to read the backup and to write.")
ErasuresMissing = StartupError.define("ErasuresMissing", ja="消去の記録 {path} がないため、消した人のデータまで戻ってしまうかもしれません。記録を元の場所に戻すか、それでもよければ --without-erasures を付けてください。", en="The erasure log {path} is missing, so erased data might come back. Put the log back, or add --without-erasures to accept that.")
ErasuresUnreadable = StartupError.define("ErasuresUnreadable", ja="消去の記録 {path} を読めないため、消した人のデータまで戻ってしまうかもしれません。読める記録に置きかえるか、それでもよければ --without-erasures を付けてください。", en="The erasure log {path} can't be read, so erased data might come back. Replace it with an intact copy, or add --without-erasures to accept that.")
ErasuresCut = StartupError.define("ErasuresCut", ja="消去の記録が足りません。{path} かそのあとのバックアップを作ったときより少なく、消した人のデータが戻るおそれがあります。{name} をバックアップの隣に戻すか、それでもよければ --without-erasures を付けてください。", en="The erasure log is incomplete: it has fewer entries than when {path} or a later backup was made, so erased data might come back. Put {name} back beside the backup, or add --without-erasures to accept that.")
NotConfirmed = StartupError.define("NotConfirmed", ja="中止しました。何も変えていません。確認なしで行うには、{command} と入力してください。", en="Cancelled; nothing was changed. To proceed without being asked, run: {command}")


class StorageError(CcBotError):
    ja = "保存できませんでした。少し待って、もう一度お試しください。続くときはボットの管理者にお知らせください。"
    en = "I could not save that. Please try again in a moment; if this keeps happening, tell the bot's operator."


ConversationGone = StorageError.define("ConversationGone", ja="この回答は残りません。お答えしているあいだに、質問か会話が消されました。", en="This answer was not saved: the question or its conversation was erased meanwhile.")
TurnLost = StorageError.define("TurnLost", ja="この回答は残りません。応答が途切れたあいだに、打ち切られました。もう一度お尋ねください。", en="This answer was not saved: I stopped working for a while, so it was given up. Please ask again.")
ErasureNotNoted = StorageError.define("ErasureNotNoted", ja="消去の記録を書けないため、消去を終えられませんでした。ボットの管理者にお知らせください。", en="I can't write to the erasure log, so the erasure was not completed. Please tell the bot's operator.")
ErasureUnfinished = StorageError.define("ErasureUnfinished", ja="一部をまだ消しきれていません。残りは自動で消えます。それまでに保存されたものも、一緒に消えます。終わったかどうかは </privacy show> で分かります。", en="Some data could not be erased yet. It will be erased automatically, with whatever is stored until then. </privacy show> tells you when that is done.")
DatabaseLocked = StorageError.define("DatabaseLocked", ja="保存場所がほかの処理でふさがっていて、保存できませんでした。少し待って、もう一度お試しください。", en="My storage is busy, so I could not save that. Please try again in a moment.")
DatabaseFull = StorageError.define("DatabaseFull", ja="保存場所がいっぱいで、保存できませんでした。ボットの管理者にお知らせください。", en="My storage is full, so I could not save that. Please tell the bot's operator.")
DatabaseForbidden = StorageError.define("DatabaseForbidden", ja="保存場所を使う権限が足りないため、保存できませんでした。ボットの管理者にお知らせください。", en="I don't have permission to use my storage, so I could not save that. Please tell the bot's operator.")
DatabaseReadOnly = StorageError.define("DatabaseReadOnly", ja="保存場所に書き込めないため、保存できませんでした。ボットの管理者にお知らせください。", en="I can't write to my storage, so I could not save that. Please tell the bot's operator.")
DatabaseUnreachable = StorageError.define("DatabaseUnreachable", ja="保存場所につながりません。少し待って、もう一度お試しください。", en="I can't reach my storage. Please try again in a moment.")
DatabaseCrowded = StorageError.define("DatabaseCrowded", ja="保存場所が混み合っています。少し待って、もう一度お試しください。", en="My storage is overloaded right now. Please try again in a moment.")
PoolerForgets = StorageError.define("PoolerForgets", ja="保存場所の設定に誤りがあり、保存できませんでした。ボットの管理者にお知らせください。", en="My storage is not set up correctly, so I could not save that. Please tell the bot's operator.")
DatabaseImpatient = StorageError.define("DatabaseImpatient", ja="保存場所で決められた時間のうちに終わらず、途中で止められました。もう一度お試しください。続くときはボットの管理者にお知らせください。", en="That took longer than my storage allows, and was stopped. Please try again; if this keeps happening, tell the bot's operator.")
CommitUncertain = StorageError.define("CommitUncertain", ja="保存場所との接続が切れたため、保存できたかどうかわかりません。確かめてから、もう一度お試しください。", en="I lost the connection to my storage and can't tell whether that was saved. Please check, then try again.")
DatabaseDamaged = StorageError.define("DatabaseDamaged", ja="保存場所が壊れているため、いまはお答えできません。ボットの管理者にお知らせください。", en="My storage is damaged, so I can't answer now. Please tell the bot's operator.")


class TurnError(CcBotError): ...


Busy = TurnError.define("Busy", ja="前の質問に順番に答えています。返事が届いてから、もう一度お聞きください。", en="I'm still answering your earlier questions. Please ask again when they are answered.")
Crowded = TurnError.define("Crowded", ja="ただいまとても混み合っています。しばらくしてから、もう一度お聞きください。", en="Too many people are asking right now. Please ask again in a while.")
ShuttingDown = TurnError.define("ShuttingDown", ja="ただいま再起動の準備中です。少し待ってから、もう一度お聞きください。", en="I'm about to restart. Please ask again in a moment.")
Postponed = ShuttingDown.define("Postponed", ja="ただいま再起動しています。戻りしだい、ここでお答えします。", en="I'm restarting. I'll answer here as soon as I'm back.")
NotNewest = TurnError.define("NotNewest", ja="この回答は最新ではなくなりました。続きは </ask> でお聞きください。", en="This is no longer the newest answer. Please continue with </ask>.")
AnswerInUse = TurnError.define("AnswerInUse", ja="この回答のツールを実行しています。終わるのを待つか、「止める」を押してから、もう一度押してください。", en="A tool of this answer is still running. Wait until it ends, or press Stop, then press this again.")
AnswerUnderway = TurnError.define("AnswerUnderway", ja="いま回答を作り直しているので、まだ実行していません。終わってもボタンが残っていたら、もう一度押してください。", en="This answer is being written again, so this has not been done yet. If the button is still there afterwards, press it again.")
AgentGone = TurnError.define("AgentGone", ja="この回答をしたエージェントは、もうここでは使えません。</ask> で続けてください。", en="The agent that gave this answer can't be used here any more. Please continue with </ask>.")
BeingErased = TurnError.define("BeingErased", ja="データの消去が始まったので、この回答は取りやめました。消去が終わってから、もう一度お聞きください。", en="Your data is being erased, so this answer was dropped. Please ask again once that is done.")


class ModelError(TurnError):
    ja = "AIモデルから返事をもらえませんでした。もう一度お試しください。"
    en = "The AI model gave no answer. Please try again."


ModelUnavailable = ModelError.define("ModelUnavailable", ja="AIモデルにつながらないか、混み合っています。しばらくしてから、もう一度お試しください。", en="The AI model is busy or can't be reached. Please try again in a while.")
ModelUnreachable = ModelUnavailable.define("ModelUnreachable", ja="AIモデルのサーバーにつながりません。少し待ってから、もう一度お試しください。続くときは、ボットの管理者にお知らせください。", en="The AI model's server can't be reached. Please try again in a while, and tell the bot's operator if this keeps happening.")
ModelSaidNothing = ModelError.define("ModelSaidNothing", ja="AIモデルの返事が空でした。もう一度お試しになるか、言い方を変えてみてください。", en="The AI model's answer was empty. Please try again, or put it another way.")
ModelOutOfRoom = ModelError.define("ModelOutOfRoom", ja="AIモデルが考えるだけで字数の上限に達し、返事を書けませんでした。質問を短くするか、分けてお聞きください。", en="The AI model used up its tokens on thinking and wrote no answer. Please ask a shorter or simpler question.")
ModelWentInCircles = ModelError.define("ModelWentInCircles", ja="ツールを繰り返し使いましたが堂々めぐりになり、答えを出せませんでした。変えたものがあれば下に出ています。小さく分けて、もう一度お聞きください。", en="I kept using my tools without finding an answer. Anything I changed is shown below. Please ask again in smaller steps.")
ModelRefusedKey = ModelError.define("ModelRefusedKey", ja="AIモデルのAPIキーが受け付けられませんでした。ボットの管理者にお知らせください。", en="The AI model did not accept its API key. Please tell the bot's operator.")
ModelRefusedRequest = ModelError.define("ModelRefusedRequest", ja="AIモデルがこの質問を受け付けませんでした。言い方を変えるか、ボットの管理者にお知らせください。", en="The AI model did not accept this question. Put it another way, or tell the bot's operator.")
ModelNotFound = ModelRefusedRequest.define("ModelNotFound", ja="設定されているAIモデルが見つかりません。ボットの管理者にお知らせください。", en="The AI model that is set here can't be found. Please tell the bot's operator.")


class ContextTooLong(ModelError):
    ja = "質問が長すぎて、AIモデルが一度に読みきれません。短くするか、いくつかに分けてお聞きください。"
    en = "The question is too long for the AI model to read at once. Please shorten it or ask it in parts."

    @property
    def limit(self) -> int | None:
        """The model's maximum number of tokens; None if the server did not say."""
        return limit if isinstance(limit := self.params.get("limit"), int) else None


class LimitReached(TurnError):
    ja = "いま使える分を使いきりました。次に使えるのは{resets}です。</usage> で使った分が見られます。"
    en = "You have reached your usage limit. Please ask again {resets}; </usage> shows your usage."


ServerLimitReached = LimitReached.define("ServerLimitReached", ja="このサーバーで使える分を使いきりました。次に使えるのは{resets}です。", en="This server has reached its usage limit. Please ask again {resets}.")
TooManyAtOnce = LimitReached.define("TooManyAtOnce", ja="同時にお答えできる数に達しています。前の返事が届いてから、もう一度お聞きください。", en="The questions I'm answering now use up the limit. Please ask again when one of them is answered.")
