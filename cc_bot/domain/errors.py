"""Errors shown to users, the operator or the model: the cause, and what to do next. A name in braces is a
parameter of the error; `</memory add>` marks a command (texts/area.py)."""

from datetime import datetime
from typing import ClassVar, Self, TypeVar

Error = TypeVar("Error", bound=BaseException)


class CcBotError(Exception):
    """Keyword arguments are the parameters of the text."""

    ja: ClassVar[str] = "うまくいきませんでした。もう一度お試しください。"
    en: ClassVar[str] = "Something went wrong. Please try again."

    def __init__(self, **params: str | int | datetime) -> None:
        super().__init__(type(self).__name__, params)
        self.params = params

    @classmethod
    def define(cls, name: str, *, ja: str, en: str) -> type[Self]:
        return type(name, (cls,), {"ja": ja, "en": en})


def drop_tracebacks(error: Error) -> Error:
    """Remove tracebacks of a handled error and its causes. Their frames form reference cycles, which keep
    files in memory until the next garbage collection."""
    following: BaseException | None = error
    while following:
        before, following.__context__ = following.__context__, None
        following.__cause__ = following.__traceback__ = None
        following = before
    return error


# An error is one line.
# fmt: off


class ToolServerError(CcBotError): ...


ToolServerUnavailable = ToolServerError.define("ToolServerUnavailable", ja="いまは「{server}」につながらないため、使えません。しばらくしてから、もう一度お試しください。", en="“{server}” is not available now. Please try again in a while.")
CallPostponed = ToolServerError.define("CallPostponed", ja="いまは「{server}」につながらないため、まだ実行していません。しばらくしてから、期限（{minutes}分）のうちにもう一度お試しください。", en="“{server}” is not available now, so nothing was done yet. Please try again in a while, within the {minutes} minutes.")
ToolGone = ToolServerError.define("ToolGone", ja="このツールは、もう使えません。", en="This tool is not there any more.")
ToolTimedOut = ToolServerError.define("ToolTimedOut", ja="「{server}」が {seconds} 秒たっても応えないので、打ち切りました。実行された可能性があります。", en="“{server}” did not answer within {seconds} seconds, so I gave up. It may have been done.")
ToolCallLost = ToolServerError.define("ToolCallLost", ja="実行の途中で「{server}」との接続が切れました。実行されたかどうかは分からないので、繰り返す前に確かめてください。", en="“{server}” was lost during the call. It may have been done: please check before you repeat it.")
SecretAsked = ToolServerError.define("SecretAsked", ja="「{server}」がパスワードのような秘密をたずねてきたので、断りました。", en="“{server}” asked for a secret, such as a password. That was declined.")
FormUnsuitable = ToolServerError.define("FormUnsuitable", ja="「{server}」の質問は、ここでは答えられない形だったので、断りました。", en="“{server}” asked something in a way that can't be answered here. That was declined.")


class AccessError(CcBotError):
    ja = "この操作は、ここでは使えません。"
    en = "That can't be done here."


NotAllowed = AccessError.define("NotAllowed", ja="このボットは、ここではお使いいただけない設定になっています。使いたいときはボットの管理者にお知らせください。", en="This bot is set up not to answer here. If you would like to use it, tell the bot's operator.")
OwnersOnly = AccessError.define("OwnersOnly", ja="この操作は、ボットの管理者だけが使えます。", en="Only the bot's owners can do that.")
UnderMaintenance = AccessError.define("UnderMaintenance", ja="ただいまメンテナンス中です。しばらくしてから、もう一度お試しください。{note}", en="I'm down for maintenance. Please try again in a while.{note}")
NotSignedIn = AccessError.define("NotSignedIn", ja="サインインしていません。Discord で </web> を実行すると、ページを開くリンクが届きます。", en="You are not signed in. Use </web> on Discord to get a link to your pages.")
LinkExpired = AccessError.define("LinkExpired", ja="このリンクはもう使えません。Discord で </web> を実行すると、新しいリンクが届きます。", en="This link no longer works. Use </web> on Discord to get a new one.")
TooManyLinks = AccessError.define("TooManyLinks", ja="使えないリンクが続いています。1分ほど待ってから、新しいリンクでお試しください。", en="Too many links that don't work were tried. Please wait a minute, then use a new link.")
ForeignRequest = AccessError.define("ForeignRequest", ja="このページの外から届いた操作なので、何も変えていません。ページを開き直してお試しください。", en="That did not come from this page, so nothing was changed. Open the page again and retry.")
PageOfAnother = AccessError.define("PageOfAnother", ja="このページを開いたあと、このブラウザで別の方がサインインしたので、何も変えていません。ページを開き直してください。", en="Somebody else has signed in with this browser since, so nothing was changed. Please open the page again.")
ForeignHost = AccessError.define("ForeignHost", ja="このアドレスからはページを開けません。Discord で </web> を実行して届くリンクから開いてください。", en="The pages can't be opened under this address. Use </web> on Discord to get a link to them.")
TooManyRequests = AccessError.define("TooManyRequests", ja="操作が続いています。少し待ってから、もう一度お試しください。", en="That was a lot at once. Please wait a moment and try again.")
RequestTooLarge = AccessError.define("RequestTooLarge", ja="送られた内容が大きすぎます（ファイルは 1 MB まで）。小さく分けてお試しください。", en="That is too large to send (a file: 1 MB at most). Please send it in smaller parts.")
NothingHere = AccessError.define("NothingHere", ja="お探しのものは見つかりません。一覧から開き直してください。", en="There is nothing here. Please open it from its list.")


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
EmptyMemory = InputError.define("EmptyMemory", ja="覚える内容が空です。覚えてほしいことを書いてください。", en="There is nothing to remember. Write what you would like me to keep.")
MemoryTooLong = InputError.define("MemoryTooLong", ja="1件のメモリは{limit}文字までです（今は{length}文字）。短くするか、分けて登録してください。", en="One memory holds up to {limit} characters (this has {length}). Shorten it or split it.")
DetailsTooLong = MemoryTooLong.define("DetailsTooLong", ja="カテゴリやタグは、合わせて{limit}文字までです（今は{length}文字）。短くしてください。", en="Category and tags together hold up to {limit} characters (these have {length}). Please shorten them.")
CategoryTooLong = InputError.define("CategoryTooLong", ja="カテゴリは{limit}文字までです（今は{length}文字）。短くしてください。", en="A category holds up to {limit} characters (this has {length}). Please shorten it.")
CategoryNeeded = InputError.define("CategoryNeeded", ja="カテゴリの名前を書いてください。", en="Please write the name of the category.")
TagTooLong = InputError.define("TagTooLong", ja="タグは1つ{limit}文字までです（{length}文字のものがあります）。短くするか、カンマか空白で区切ってください。", en="A tag holds up to {limit} characters (one has {length}). Shorten it, or separate tags by commas or spaces.")
TooManyTags = InputError.define("TooManyTags", ja="タグは{limit}個までです（今は{found}個）。減らしてください。", en="A memory has up to {limit} tags (these are {found}). Please leave some out.")
TooManyMemories = InputError.define("TooManyMemories", ja="メモリは{limit}件までです。</memory list> で見て、要らないものを削除してください。", en="You have as many memories as you can keep ({limit}). See </memory list> and delete those you no longer need.")
MemoryFull = InputError.define("MemoryFull", ja="メモリに使える容量（{limit}）がいっぱいです。</memory list> で見て、要らないものを削除してください。", en="Your memories fill all the room there is ({limit}). See </memory list> and delete those you no longer need.")
MemoryKnown = InputError.define("MemoryKnown", ja="同じ内容のメモリをもう覚えているため（#{id}）、元に戻しませんでした。", en="I know that already (#{id}), so I did not bring this one back.")
TooManyPinned = InputError.define("TooManyPinned", ja="ピン留めできるのは{limit}件までです。</memory list> で 📌 の付いたものを見て、どれかのピンを外してください。", en="You can pin up to {limit} memories. See </memory list> for those with 📌, and unpin one.")
TooManyImports = InputError.define("TooManyImports", ja="取り込みが続いています。次に取り込めるのは{resets}です。", en="You have imported as often as is possible for now. Please try again {resets}.")
EarlierFilesInProgress = InputError.define("EarlierFilesInProgress", ja="前のファイルをまだ処理しています。終わってから、もう一度お試しください。", en="I'm still at work on your earlier files. Please try again when they are done.")
SecretNotStored = InputError.define("SecretNotStored", ja="パスワードやカード番号のように見えるため、保存しませんでした。大切な情報は専用の管理アプリでの保管をお勧めします。", en="That looks like a password, token, card or key number, so I did not store it. A password manager is the place for it.")
MemoryPaused = InputError.define("MemoryPaused", ja="メモリは一時停止中です。</memory resume> で再開できます。", en="Memory is paused. Resume it with </memory resume>.")
MemoryNotFound = InputError.define("MemoryNotFound", ja="#{id} のメモリは見つかりません。</memory list> で番号を確かめてください。", en="There is no memory #{id}. See </memory list> for the numbers.")
TooManyChosen = InputError.define("TooManyChosen", ja="一度に選べるのは{limit}件までです。減らしてお試しください。", en="You can choose {limit} at a time. Please choose fewer.")
ReminderEditOutdated = InputError.define("ReminderEditOutdated", ja="このお知らせは、ページを開いたあとで変わりました。いまの内容を確かめて、もう一度保存してください。", en="This reminder has changed since you opened the page. Look at what it says now, then save again.")
CanvasSwitched = InputError.define("CanvasSwitched", ja="別のエージェントのキャンバスに切り替わったので、何も外していません。ページを開き直してお試しください。", en="Another agent's canvas is up by now, so nothing was taken down. Open the page again and retry.")
MemoryHidden = InputError.define("MemoryHidden", ja="このメモリは少し前に削除されました。10分以内なら、このメモリのページで元に戻してから変えられます。", en="This memory was deleted a moment ago. Within ten minutes you can restore it on its page, then change it.")
MemoryEditOutdated = InputError.define("MemoryEditOutdated", ja="編集しているあいだに、このメモリが変わりました。まだ何も保存していません。今の内容を見て、もう一度お試しください。", en="This memory changed while you were editing it. Nothing was saved. Please look at what it says now and try again.")
ImportNotUnderstood = InputError.define("ImportNotUnderstood", ja="このファイルはメモリの一覧として読めませんでした。</memory export> の JSON か、1行に1件のテキストを添付してください。", en="I can't read this file as a list of memories. Attach the JSON of </memory export>, or a text with one memory a line.")
TooManyToImport = InputError.define("TooManyToImport", ja="一度に取り込めるのは{limit}件までです。いくつかのファイルに分けてください。", en="One import takes up to {limit} memories. Please split the file.")
EndNotUnderstood = InputError.define("EndNotUnderstood", ja="期限が読み取れませんでした。「12月31日」「来週の金曜」「3日後」「2026-12-31」のように書いてください。", en="I can't read that end. Write it like: Dec 31, next Friday, in 3 days, 2026-12-31.")
EndPassed = InputError.define("EndPassed", ja="その期限はもう過ぎています。これからの日付を書いてください。", en="That end is over. Please give a date that is still to come.")
UnknownTimezone = InputError.define("UnknownTimezone", ja="そのタイムゾーンは見つかりません。東京 や Asia/Tokyo のような名前で指定してください。", en="I don't know that time zone. Please give a city like London, or a name like Europe/London.")
UnknownAgent = InputError.define("UnknownAgent", ja="その名前のエージェントは、ここでは使えません。</agent list> で使えるものを確かめてください。", en="There is no agent of that name here. See </agent list> for those that there are.")
EmptyReminder = InputError.define("EmptyReminder", ja="お知らせする内容が空です。何をお知らせするかを書いてください。", en="There is nothing to remind you of. Write what it is about.")
ReminderTooLong = InputError.define("ReminderTooLong", ja="お知らせの内容は{limit}文字までです（今は{length}文字）。短くしてください。", en="A reminder holds up to {limit} characters (this has {length}). Please shorten it.")
TooManySchedules = InputError.define("TooManySchedules", ja="お知らせは{limit}件までです。</remind list> で見て、要らないものを消してください。", en="There can be {limit} reminders at most. See </remind list> and delete what you no longer need.")
ScheduleNotFound = InputError.define("ScheduleNotFound", ja="#{id} のお知らせは見つかりません。</remind list> で番号を確かめてください。", en="There is no reminder #{id}. See </remind list> for the numbers.")
ProposalGone = InputError.define("ProposalGone", ja="この提案はもう決まっているか、取り下げられたか、期限が過ぎています。必要なら、もう一度お聞きください。", en="This was decided already, withdrawn, or its time is over. Ask again if you still want it.")
ProposalOutdated = InputError.define("ProposalOutdated", ja="提案のあとに元の内容が変わったので、何もしていません。必要なら、もう一度お聞きください。", en="What this would change has changed since, so nothing was done. Ask again if you still want it.")
FieldEmpty = InputError.define("FieldEmpty", ja="「{name}」を書いてください。", en="“{name}” is needed. Please fill it in.")
FieldNotANumber = InputError.define("FieldNotANumber", ja="「{name}」は数字で書いてください。", en="“{name}” has to be a number.")
FieldNotAWholeNumber = InputError.define("FieldNotAWholeNumber", ja="「{name}」は整数で書いてください。", en="“{name}” has to be a whole number.")
FieldNotYesOrNo = InputError.define("FieldNotYesOrNo", ja="「{name}」は「はい」か「いいえ」で書いてください。", en="“{name}” has to be “yes” or “no”.")
FieldNotAChoice = InputError.define("FieldNotAChoice", ja="「{name}」は次の中から選んで書いてください: {known}", en="“{name}” has to be one of: {known}")
FieldOutOfBounds = InputError.define("FieldOutOfBounds", ja="「{name}」は {expected} の範囲で書いてください。", en="“{name}” has to be within {expected}.")
FieldLengthOutOfBounds = FieldOutOfBounds.define("FieldLengthOutOfBounds", ja="「{name}」は {expected} 文字で書いてください。", en="“{name}” has to have {expected} characters.")
WhenNotUnderstood = InputError.define("WhenNotUnderstood", ja="いつなのかが読み取れませんでした。「10分後」「明日9時」「12月3日 18:00」のように書いてください。", en="I can't tell when that is. Write it like: in 10 minutes, tomorrow at 9am, Dec 3 18:00.")
NoSuchTime = WhenNotUnderstood.define("NoSuchTime", ja="「{when}」という日付や時刻はありません。日にち、曜日、時刻を確かめてください。", en="There is no such date or time: “{when}”. Please check the day, the weekday and the time.")
SeveralTimes = InputError.define("SeveralTimes", ja="時刻がいくつもあります。お知らせ1件につき時刻は1つなので、分けて予約してください。毎日なら「毎日9時と18時」のように書けます。", en="Those are several times. A reminder has one, so please set them one by one. What comes every day may have more: every day at 9 and 18:00.")
WhenPassed = InputError.define("WhenPassed", ja="その時刻はもう過ぎています。これからの時刻を書いてください。", en="That time is over. Please give one that is still to come.")
WhenTooFar = InputError.define("WhenTooFar", ja="先すぎます。{limit}年先までの時刻を書いてください。", en="That is too far away. Please give a time within {limit} years.")
RepeatNotUnderstood = InputError.define("RepeatNotUnderstood", ja="繰り返しが読み取れませんでした。「毎日9時と18時」「月水金 7:30」「隔週の火曜 10時」「3日ごとに8時」「毎月第2水曜」「毎月末」のように書いてください。", en="I can't tell how that repeats. Write it like: every day at 8am and 6pm, mon/wed/fri 7:30, every other Tuesday at 10, every 3 days at 8, every 2nd Wednesday of the month, on the last day of every month.")
RepeatAmbiguous = RepeatNotUnderstood.define("RepeatAmbiguous", ja="「○日おき」は二通りに読めます（2日おきなら、2日ごととも3日ごととも）。「○日ごと」の形で書いてください。", en="“Every second Tuesday” can be read in two ways. Write “every other Tuesday” or “every 2nd Tuesday of the month”.")
TimeOfDayNotUnderstood = InputError.define("TimeOfDayNotUnderstood", ja="時刻「{name}」が分かりませんでした。22:00、7時半、10pm のように書いてください。", en="I don’t understand the time “{name}”. Write it like 22:00, 7:30 or 10pm.")
RepeatTooOften = InputError.define("RepeatTooOften", ja="繰り返しは1時間に1回までです。間隔をもっと空けてください。", en="A reminder repeats at most once an hour. Please leave more time between.")
SubjectNotUnderstood = InputError.define("SubjectNotUnderstood", ja="相手が読み取れませんでした。@人、@ロール、#チャンネル、またはIDと「区分」で指定してください。", en="I can't tell whom that means. Give @user, @role, #channel, or an id with its kind.")
IdNotUnderstood = SubjectNotUnderstood.define("IdNotUnderstood", ja="IDが読み取れませんでした。Discord の「IDをコピー」で分かる数字を入れてください。", en="I can't read that id. Please enter the number that Discord's “Copy ID” gives.")
ModelsNotUnderstood = InputError.define("ModelsNotUnderstood", ja="モデルの名前が読み取れませんでした。名前をコンマで区切って、5つまで書いてください。", en="I can't read those names. Give up to five models, separated by commas.")
ToolServerUnknown = InputError.define("ToolServerUnknown", ja="その名前のツールのサーバーはありません。</admin tools show> で名前を確かめてください。", en="There is no server with tools of that name. </admin tools show> has the names.")
ToolListNotShown = InputError.define("ToolListNotShown", ja="コードがいまのツールのものではないため、何も承認していません。</admin tools show> にサーバーの名前を付けて、いまの内容とコードを確かめてください。", en="That is not the code of the tools as they are now, so nothing was accepted. Read them again with </admin tools show> and the name of the server, which gives the code.")
LimitNotUnderstood = InputError.define("LimitNotUnderstood", ja="制限が読み取れませんでした。制限を選び、1以上の整数を書いてください。空のままなら、制限なしになります。", en="I can't read that limit. Choose which one, and write a whole number from 1 on; nothing means no limit.")
LimitNotForServers = InputError.define("LimitNotForServers", ja="この制限は、全員・人・ロールごとに決められます。サーバー全体では決められません。", en="This limit is for everyone, a user or a role. A server can't have one.")
LimitNotForChannels = InputError.define("LimitNotForChannels", ja="制限は、全員・人・ロール・サーバーごとに決められます。チャンネルごとには決められません。", en="Limits are for everyone, a user, a role or a server. A channel can't have one.")
AttachmentTooLarge = InputError.define("AttachmentTooLarge", ja="添付ファイルが大きすぎます。{limit}までのファイルを添付してください。", en="The attachment is too large. Please attach a file of up to {limit}.")
AttachmentNotSupported = InputError.define("AttachmentNotSupported", ja="このファイルは読めません。画像（PNG・JPEG・GIF・WebP）、テキスト、文書（PDF・Word・Excel・PowerPoint・EPUBなど）、音声（OGG・MP3・M4A・WAV・WebM）を添付してください。", en="I can't read this file. Please attach an image (PNG, JPEG, GIF, WebP), a text file, a document (PDF, Word, Excel, PowerPoint, EPUB and others) or a recording (OGG, MP3, M4A, WAV, WebM).")
AttachmentNotFetched = InputError.define("AttachmentNotFetched", ja="添付ファイルを受け取れませんでした。もう一度添付して送ってください。", en="I could not get the attachment. Please attach it and send again.")
DocumentUnreadable = InputError.define("DocumentUnreadable", ja="このファイルは開けませんでした。壊れているか、複雑すぎるようです。保存し直すか、必要なところだけを送ってください。", en="I could not open this file: it seems damaged or too complex. Please save it again, or send the part that matters.")
DocumentLocked = InputError.define("DocumentLocked", ja="このファイルにはパスワードがかかっています。パスワードを外して、もう一度送ってください。", en="This file is protected by a password. Please take the password off and send it again.")
DocumentTooLong = InputError.define("DocumentTooLong", ja="この文書は長すぎます。必要なところだけを分けて送ってください。1,000ページ、10万セル、100万字まで読めます。", en="This document is too long. Please send the part that matters: up to 1,000 pages, 100,000 cells or a million characters.")
DocumentOldFormat = InputError.define("DocumentOldFormat", ja="古い形式（.doc・.xls・.pptなど）のファイルは読めません。Officeなどで開き、.docx・.xlsx・.pptxかPDFで保存し直して、もう一度送ってください。", en="I can't read files of the old formats (.doc, .xls, .ppt). Please open it in Office, save it as .docx, .xlsx, .pptx or PDF, and send it again.")
DocumentReaderBusy = InputError.define("DocumentReaderBusy", ja="今はほかのファイルを読んでいて、手が回りませんでした。少し待って、もう一度送ってください。", en="I am busy reading other files right now. Please wait a moment and send it again.")
DocumentsNotInstalled = InputError.define("DocumentsNotInstalled", ja="このボットは、PDFとExcelを読む準備ができていません。文章をテキストで送るか、ボットの管理者にお知らせください。", en="This bot is not set up to read PDF and Excel. Please tell the bot's operator, or send the text itself.")
DocumentsNotConfined = InputError.define("DocumentsNotConfined", ja="このボットが動いているシステムでは文書を安全に読めないため、開きませんでした。文章をテキストで送るか、ボットの管理者にお知らせください。", en="I did not open this document: the system I run on can't read it safely. Please tell the bot's operator, or send the text itself.")
RecordingTooLong = InputError.define("RecordingTooLong", ja="音声が長すぎます。{minutes}分までにするか、分けて送ってください。", en="The recording is too long. Please keep it under {minutes} minutes, or send it in parts.")
RecordingEmpty = InputError.define("RecordingEmpty", ja="音声の長さが0秒でした。録音し直して、もう一度送ってください。", en="The recording is 0 seconds long. Please record it again and send it.")
RecordingRefused = InputError.define("RecordingRefused", ja="この音声は受け付けられませんでした。録音し直すか、文字で送ってください。", en="This recording could not be taken. Please record it again, or type it.")
NothingTranscribed = InputError.define("NothingTranscribed", ja="🎤 何も聞き取れませんでした。もう一度録音するか、文字で送ってください。", en="🎤 I couldn't hear anything. Please record it again, or type it.")
TranscriptionUnavailable = InputError.define("TranscriptionUnavailable", ja="🎤 このボットは音声を聞き取れません。お手数ですが、文字で送ってください。", en="🎤 I can't listen to voice messages here. Please type it instead.")
NothingToRead = InputError.define("NothingToRead", ja="このメッセージには、読めるものがありません。文章や画像のあるメッセージで選んでください。", en="There is nothing to read in this message. Choose one with a text or a picture.")
NothingToTranslate = InputError.define("NothingToTranslate", ja="このメッセージには、翻訳する文章がありません。文章のあるメッセージで選んでください。", en="There is no text to translate in this message. Choose one with a text.")
TargetNotShown = InputError.define("TargetNotShown", ja="そのメッセージは、もう私からは見えません。まだ残っていれば、メッセージのメニューからもう一度選んでください。", en="I can no longer see that message. If it is still there, please choose from its menu once more.")
ConversationNotShown = InputError.define("ConversationNotShown", ja="ここでのやりとりは、私には読めません。私がいて、メッセージ履歴を読めるチャンネルでお試しください。", en="I can't read what was said here. Please try in a channel where I am and may read the message history.")


class PageError(CcBotError):
    ja = "ページを読めませんでした。少し待って、もう一度お試しください。"
    en = "The page could not be read. Please try again in a little while."


AddressRefused = PageError.define("AddressRefused", ja="この URL は開けません。開けるのは2,000文字までの http と https の URL だけで、空白やユーザー名、80 と 443 以外のポートを含むものは開けません。", en="This address can't be opened: only http and https can, of 2,000 characters at most, without spaces or a user name, on ports 80 and 443.")
AddressNotGiven = PageError.define("AddressNotGiven", ja="この URL は開けません。開けるのは、ユーザーのメッセージか、その返信先・転送元、この質問での検索結果にある URL だけです。読みたいときは、ユーザーに URL をはじめ（https）から貼ってもらってください。", en="This address can't be opened: only those can that stand in the user's messages, in what they reply to or forwarded, or in this turn's search results. To have it read, ask the user to paste all of it, from https on.")
AddressNotPublic = PageError.define("AddressNotPublic", ja="{host} は開けません。インターネットに公開されていない、内部のネットワークの場所です。", en="{host} can't be opened: it is inside a network, and not public on the internet.")
PageUnreachable = PageError.define("PageUnreachable", ja="{host} に接続できませんでした。URL が正しいか、確かめてください。", en="{host} could not be reached. Check whether the address is right.")
PageGarbled = PageError.define("PageGarbled", ja="{host} につながりましたが、サーバーの返事を読み取れませんでした。あとでもう一度お試しください。", en="{host} was reached, but the server's answer could not be read. Please try again later.")
PageTooSlow = PageError.define("PageTooSlow", ja="{host} から {seconds} 秒のうちにページが届きませんでした。あとでもう一度お試しください。", en="{host} did not send the page within {seconds} seconds. Please try again later.")
PageNotThere = PageError.define("PageNotThere", ja="{host} はこのページを返しませんでした（HTTP {found}）。ログインが要るページや、なくなったページは読めません。", en="{host} did not give this page (HTTP {found}). Pages that need signing in, or are gone, can't be read.")
PageTemporarilyUnavailable = PageNotThere.define("PageTemporarilyUnavailable", ja="{host} は、いまこのページを返せないようです（HTTP {found}）。あとでもう一度お試しください。", en="{host} can't give this page at the moment (HTTP {found}). Please try again later.")
TooManyRedirects = PageError.define("TooManyRedirects", ja="このページは {limit} 回を超えて別の URL に転送されるので、読むのをやめました。", en="This page sends on to others more than {limit} times, so it was not read.")
PageTooLarge = PageError.define("PageTooLarge", ja="このページは {limit} MB を超えているので、読めません。", en="This page has more than {limit} MB, so it can't be read.")
PageKindRefused = PageError.define("PageKindRefused", ja="このリンクの先は、ページでも PDF などの文書でもないので、読めません。ファイルなら、ここに添付すると読めることがあります。", en="Only pages and documents such as PDFs can be read, and this link leads to neither. If it is a file, attaching it here may help.")
PageUnreadable = PageError.define("PageUnreadable", ja="このページには、読める文章が見つかりませんでした。", en="No readable text was found on this page.")
PageIsScan = PageError.define("PageIsScan", ja="リンクの先は文字のないスキャンの PDF なので、文章として読めません。ファイルをここに添付すると、はじめの数ページを画像として見ます。", en="This link leads to a PDF of scanned pages without text. Attach the file here, and its first pages are looked at as pictures.")
PageTooLong = PageError.define("PageTooLong", ja="このページは大きすぎるか、いま混み合っていて、時間内に読みきれませんでした。", en="This page could not be read in time: it is too large, or too much is going on right now.")
PageReaderBusy = PageError.define("PageReaderBusy", ja="ほかのページを読んでいて時間がかかり、このページを読む番が来ませんでした。少し待って、もう一度お試しください。", en="It took too long: other pages are being read, and this one's turn did not come. Please try again in a moment.")
PagesNotInstalled = PageError.define("PagesNotInstalled", ja="このボットは、まだウェブページを読めません。管理者が make pages で入れると、読めるようになります。", en="This bot can't read web pages yet. Its operator can add that with make pages.")
PagesOfDocumentsNotInstalled = PageError.define("PagesOfDocumentsNotInstalled", ja="リンクの先は PDF か Excel で、このボットはまだ読めません。管理者が make documents で入れると、読めるようになります。", en="This link leads to a PDF or Excel file, which this bot can't read yet. Its operator can add that with make documents.")
PagesNotConfined = PageError.define("PagesNotConfined", ja="このボットが動いているシステムではウェブページを安全に読めないため、開きませんでした。ボットの管理者にお知らせください。", en="This page was not opened: the system that this bot runs on can't read it safely. Please tell the bot's operator.")
SearchFailed = PageError.define("SearchFailed", ja="いまウェブ検索を使えません。検索せずに、わかる範囲で答えてください。", en="Web search does not work at the moment. Answer without it, as far as you can.")
SearchFormatOff = SearchFailed.define("SearchFormatOff", ja="検索サーバーが JSON での回答を許していないため、検索できません。ボットの管理者にお知らせください。", en="The search server does not let programs search (JSON is off). Please tell the bot's operator.")


class StartupError(CcBotError):
    ja = "起動できませんでした。設定を確かめてください。"
    en = "cc-bot could not start. Please check its settings."


InvalidSetting = StartupError.define("InvalidSetting", ja="設定 {name} の値が正しくありません。たとえば {expected} のように書いてください。", en="The setting {name} is not valid. Write it like this, for example: {expected}")
InvalidValue = InvalidSetting.define("InvalidValue", ja="設定 {name} の値「{value}」が正しくありません。たとえば {expected} のように書いてください。", en="The setting {name} is not valid: “{value}”. Write it like this, for example: {expected}")
UnknownSetting = StartupError.define("UnknownSetting", ja="{name} という設定はありません。{nearest} ではありませんか。", en="There is no setting {name}. Did you mean {nearest}?")
ShardCountMissing = StartupError.define("ShardCountMissing", ja="CC_BOT_SHARDS（--shards）を使うときは、CC_BOT_SHARD_COUNT（--shard-count）にシャードの総数も書いてください。", en="With CC_BOT_SHARDS (--shards), CC_BOT_SHARD_COUNT (--shard-count) must say how many shards there are in all.")
ShardsOutOfRange = StartupError.define("ShardsOutOfRange", ja="シャードの番号は 0 から数えます。CC_BOT_SHARDS（--shards）は 0-{last} の範囲で書いてください。", en="Shards are numbered from 0. Write CC_BOT_SHARDS (--shards) within 0-{last}")
ShardsNotShared = StartupError.define("ShardsNotShared", ja="SQLiteのファイルを使えるプロセスは一つだけなので、シャードを分けられません。PostgreSQLを使うか（docs/scaling.md）、CC_BOT_SHARDS（--shards）を 0-{last} にしてください。", en="One process alone can use an SQLite file, so there is nobody for the other shards. Use PostgreSQL (docs/scaling.md), or set CC_BOT_SHARDS (--shards) to 0-{last}")
PagesNotEncrypted = StartupError.define("PagesNotEncrypted", ja="CC_BOT_WEB_HOST が {host} だと、ほかのマシンからもページが開けます。CC_BOT_WEB_URL に、https:// で始まるページのアドレスを書いてください。", en="With CC_BOT_WEB_HOST at {host}, other machines reach the pages. Set CC_BOT_WEB_URL to their address, which must begin with https://")
SettingsUnreadable = StartupError.define("SettingsUnreadable", ja="設定ファイル {path} を読めません。読み取りの権限を確かめるか、別のフォルダで実行してください。", en="The settings in {path} can't be read. Check the permission, or run this in another folder.")
InvalidAgents = StartupError.define("InvalidAgents", ja="エージェントの設定ファイル {path} を読めません。{detail}", en="The file of agents {path} can't be read. {detail}")
InvalidModels = StartupError.define("InvalidModels", ja="モデルの設定ファイル {path} を使えません。{detail}", en="The file of model servers {path} can't be used. {detail}")
InvalidToolServers = StartupError.define("InvalidToolServers", ja="ツールのサーバーの設定ファイル {path} を読めません。{detail}", en="The file of servers with tools {path} can't be read. {detail}")
MissingToken = StartupError.define("MissingToken", ja="DISCORD_TOKEN が設定されていません。.env に DISCORD_TOKEN=… と書くか、トークンなしで試すには cc-bot chat を使ってください。", en="DISCORD_TOKEN is not set. Put DISCORD_TOKEN=… into .env, or try cc-bot without a token: cc-bot chat")
RefusedToken = StartupError.define("RefusedToken", ja="DISCORD_TOKEN が Discord に受け付けられませんでした。Developer Portal でトークンを確かめて、設定し直してください。", en="Discord did not accept DISCORD_TOKEN. Check the token in the Developer Portal and set it again.")
DiscordUnreachable = StartupError.define("DiscordUnreachable", ja="Discord につながりませんでした。ネットワークと DISCORD_API_URL を確かめて、もう一度起動してください。", en="Discord can't be reached. Check the network and DISCORD_API_URL, then start again.")
MessageContentRefused = StartupError.define("MessageContentRefused", ja="Discord が、すべてのメッセージを読むことを認めませんでした。Developer Portal の Bot で Message Content Intent を有効にするか、CC_BOT_CHANNELS=mentions にして、起動し直してください。", en="Discord does not let this bot read all messages. Switch the Message Content Intent on in the Developer Portal under Bot, or set CC_BOT_CHANNELS=mentions, then start again.")
CommandsNotRegistered = StartupError.define("CommandsNotRegistered", ja="コマンドを登録できなかったので、起動をやめました（{detail}）。", en="The commands could not be registered, so cc-bot did not start ({detail}).")
AlreadyRunning = StartupError.define("AlreadyRunning", ja="別の cc-bot が {path} を使っています。そちらを止めてから起動してください。", en="Another cc-bot is using {path}. Stop that one first.")
ShardsTaken = StartupError.define("ShardsTaken", ja="{host} で動いている cc-bot が、同じデータベースでシャード {theirs} を受け持っています。ここで起動しようとしたのは {ours} です（* はすべて）。そちらを止めるか、重ならない --shards と同じ --shard-count を指定してください。", en="A cc-bot on {host} holds shards {theirs} on the same database; this one was to hold {ours} (* is all). Stop that one first, or give other --shards and the same --shard-count.")
DatabaseInUse = StartupError.define("DatabaseInUse", ja="{path} を開いているプログラムがあります（cc-bot chat や Litestream など）。すべて止めてから、もう一度実行してください。", en="Some program has {path} open (cc-bot chat, or Litestream). Stop all of them, then run this again.")
DatabaseFolderMissing = StartupError.define("DatabaseFolderMissing", ja="データベースのフォルダ {path} がありません。作成するか、{setting} を直してください。", en="The database folder {path} does not exist. Create it or correct {setting}.")
DatabaseMissing = StartupError.define("DatabaseMissing", ja="データベース {path} がありません。CC_BOT_DATABASE_URL を確かめてください。", en="There is no database at {path}. Check CC_BOT_DATABASE_URL.")
DatabaseUnusable = StartupError.define("DatabaseUnusable", ja="データベース {path} を開けません。ファイルの中身と読み書きの権限を確かめてください。壊れているときは cc-bot restore でバックアップから戻せます。", en="The database {path} can't be opened. Check the file and the permission to read and write it. If it is damaged, cc-bot restore puts a backup in its place.")
DatabaseNewer = StartupError.define("DatabaseNewer", ja="データベース {path} は新しい cc-bot のものです（版 {found}、この cc-bot は {known} まで）。cc-bot を更新してください。", en="The database {path} was written by a newer cc-bot (version {found}; this one knows {known}). Update cc-bot.")
SchemaChanged = StartupError.define("SchemaChanged", ja="データベース {path} の {name} がないか、cc-bot の作る形と違うため、起動をやめました。cc-bot を更新したところなら、cc-bot copy --to URL で空のデータベースに移してください。ご自分で加えたものなら取り除くか名前を変え、覚えがなければ cc-bot restore でバックアップから戻してください。", en="In the database {path} the {name} is missing or not as cc-bot makes it, so cc-bot did not start. If you have just updated cc-bot, bring the database over into an empty one with cc-bot copy --to URL. Remove or rename it if you added it; if you did not, put a backup in its place with cc-bot restore.")
DatabaseNotOurs = StartupError.define("DatabaseNotOurs", ja="{path} は cc-bot のデータベースに見えないので、手を付けませんでした。CC_BOT_DATABASE_URL を確かめてください。正しければ、このファイルを別の場所に移してください。", en="{path} does not look like a database of cc-bot, so it was left alone. Check CC_BOT_DATABASE_URL; if it is right, move the file elsewhere.")
SqliteTooOld = StartupError.define("SqliteTooOld", ja="Python に付属の SQLite {found} は古すぎます（{needed} 以上が必要です）。Python を新しくしてください。", en="The SQLite {found} of this Python is too old ({needed} or newer is needed). Install a newer Python.")
PostgresTooOld = StartupError.define("PostgresTooOld", ja="PostgreSQL {found} は古すぎます（{needed} 以上が必要です）。サーバーを新しくしてください。", en="PostgreSQL {found} is too old ({needed} or newer is needed). Upgrade the server.")
PostgresNotUtf8 = StartupError.define("PostgresNotUtf8", ja="データベース {url} の文字コードは {found} なので、日本語を保存できません。createdb --encoding=UTF8 --template=template0 で作り直してください。", en="The database {url} keeps its texts as {found}, which can't hold Japanese. Make it anew: createdb --encoding=UTF8 --template=template0")
PostgresRefused = StartupError.define("PostgresRefused", ja="{url} に接続できません。{setting} のユーザー名、パスワード、データベース名を確かめてください（{reason}）。", en="{url} does not let cc-bot in. Check the user, the password and the database in {setting} ({reason}).")
NotAFile = StartupError.define("NotAFile", ja="cc-bot {command} は SQLite のファイルのためのコマンドです。PostgreSQL では、控えは pg_dump、復元は pg_restore のあとに cc-bot erasures apply、削除は dropdb で行ってください。", en="cc-bot {command} is for a file of SQLite. With PostgreSQL use pg_dump for copies, to go back to one pg_restore and then cc-bot erasures apply, and to delete all dropdb.")
EngineMissing = StartupError.define("EngineMissing", ja="このデータベースには追加のパッケージが要ります。make {extra} を実行してください（pip なら cc-bot[{extra}]）。", en="This database needs one more package. Run: make {extra} (with pip: cc-bot[{extra}])")
ServerInUse = StartupError.define("ServerInUse", ja="{path} を、ほかの cc-bot が使っています（別のマシンかもしれません）。すべて止めてから、もう一度実行してください。", en="Another cc-bot is working on {path}, maybe on another machine. Stop all of them, then run this again.")
SameDatabase = StartupError.define("SameDatabase", ja="コピー元とコピー先が同じデータベースです。--from と --to を確かめてください。", en="This copies a database onto itself. Check --from and --to.")
CopySourceMissing = StartupError.define("CopySourceMissing", ja="コピー元のデータベース {path} がありません。--from を確かめてください。", en="There is no database to copy at {path}. Check --from.")
CopyTargetOccupied = StartupError.define("CopyTargetOccupied", ja="コピー先 {path} は空ではありません（表 {name} に行があります）。何も入っていないデータベースを --to に書いてください。", en="{path} is not empty: there are rows in its table {name}. Name a database in which nothing is stored, with --to.")
CopyStopped = StartupError.define("CopyStopped", ja="何もコピーしていません。直してから、同じコマンドをもう一度実行してください。", en="Nothing was copied. Once that is fixed, run the same command again.")
CopyRefused = StartupError.define("CopyRefused", ja="コピー元の表 {name} の行は {path} に入りません。ありえない値や、つながる相手のない行があるようです。何もコピーしていません。コピー元を cc-bot doctor で確かめるか、バックアップから戻したものをコピーしてください。", en="{path} does not take the rows of the table {name}: some hold a value that can't be, or refer to rows that do not exist. Nothing was copied. Check the source with cc-bot doctor, or copy an earlier backup of it.")
ErasuresNotFound = StartupError.define("ErasuresNotFound", ja="消去の記録 {path} がありません。場所を確かめてください。まだ何も消していません。", en="There is no record of erasures at {path}. Check the name; nothing has been erased yet.")
ErasuresBroken = StartupError.define("ErasuresBroken", ja="消去の記録 {path} の{line}行目を読めません。読める記録を使ってください。まだ何も消していません。", en="Line {line} of the record of erasures {path} can't be read. Use a good copy of it; nothing has been erased yet.")
BackupFailed = StartupError.define("BackupFailed", ja="バックアップを {path} に書き込めませんでした。空き容量と書き込みの権限を確かめてください。", en="The backup could not be written to {path}. Check the free space and the permission to write.")
InvalidPolicy = StartupError.define("InvalidPolicy", ja="設定ファイル {path} を読めません。{detail}", en="The file {path} can't be read. {detail}")
PortTaken = StartupError.define("PortTaken", ja="{host}:{port} は別のプログラムが使っています。{setting} を変えて、起動し直してください。", en="Another program listens on {host}:{port}. Change {setting}, then start again.")
NotEnoughRoom = StartupError.define("NotEnoughRoom", ja="{path} の空き容量が足りません（必要 {needed}、空き {free}）。空きを増やして、もう一度実行してください。", en="There is too little room at {path} ({needed} needed, {free} free). Make room and run it again.")
OldBackupsKept = StartupError.define("OldBackupsKept", ja="{made} にバックアップしましたが、{path} の古いバックアップを消せませんでした。書き込みの権限を確かめてください。", en="Backed up to {made}, but old backups in {path} could not be deleted. Check the permission to write.")
OutputLost = StartupError.define("OutputLost", ja="結果を書き出せませんでした（{reason}）。出力先を確かめてください。", en="What there was to say could not be written ({reason}). Check where the output goes.")
BackupMissing = StartupError.define("BackupMissing", ja="{path} というバックアップのファイルはありません。ファイルの名前を確かめてください。", en="There is no backup file {path}. Check the name of the file.")
BackupDamaged = StartupError.define("BackupDamaged", ja="バックアップ {path} は壊れているか、cc-bot のデータベースではありません。別のバックアップを選んでください。", en="The backup {path} is damaged, or no database of cc-bot. Choose another one.")
BackupChanged = StartupError.define("BackupChanged", ja="バックアップ {path} の {name} は、足りないか、cc-bot が作る形と違います。別のバックアップを選んでください。", en="In the backup {path}, {name} is missing or not as cc-bot makes it. Choose another one.")
RestoreFailed = StartupError.define("RestoreFailed", ja="{path} に復元できませんでした。データベースは元のままです。空き容量と、バックアップを読む権限、書き込む権限を確かめてください。", en="Nothing could be restored to {path}; the database is as it was. Check the free space, and the permissions to read the backup and to write.")
ErasuresMissing = StartupError.define("ErasuresMissing", ja="消去の記録 {path} がないため、消した人のデータまで戻ってしまうかもしれません。記録を元の場所に戻すか、それでもよければ --without-erasures を付けてください。", en="The record of erasures {path} is missing, so people who were forgotten might come back. Put it back, or add --without-erasures if that is all right.")
ErasuresUnreadable = StartupError.define("ErasuresUnreadable", ja="消去の記録 {path} を読めないため、消した人のデータまで戻ってしまうかもしれません。読める記録に置きかえるか、それでもよければ --without-erasures を付けてください。", en="The record of erasures {path} can't be read, so people who were forgotten might come back. Put a good copy in its place, or add --without-erasures if that is all right.")
ErasuresCut = StartupError.define("ErasuresCut", ja="消去の記録が足りません。{path} かそのあとのバックアップを作ったときより少なく、消した人のデータが戻るおそれがあります。{name} をバックアップの隣に戻すか、それでもよければ --without-erasures を付けてください。", en="The record of erasures is not whole: it has less than was known when {path} or a later backup was made, so people who were forgotten might come back. Put {name} back beside the backup, or add --without-erasures if that is all right.")
NotConfirmed = StartupError.define("NotConfirmed", ja="中止しました。何も変えていません。確認なしで行うには、{command} と入力してください。", en="Cancelled; nothing was changed. To go ahead without being asked, run: {command}")


class StorageError(CcBotError):
    ja = "保存できませんでした。少し待って、もう一度お試しください。続くときはボットの管理者にお知らせください。"
    en = "I could not save that. Please try again in a moment; if it goes on, tell the bot's operator."


ConversationGone = StorageError.define("ConversationGone", ja="この回答は残りません。お答えしているあいだに、質問か会話が消されました。", en="This answer is not kept: the question or its conversation was erased meanwhile.")
TurnLost = StorageError.define("TurnLost", ja="この回答は残りません。応答が途切れたあいだに、打ち切られました。もう一度お尋ねください。", en="This answer is not kept: it was given up while I was not responding. Please ask again.")
ErasureNotNoted = StorageError.define("ErasureNotNoted", ja="消去の記録を書けないため、消去を終えられませんでした。ボットの管理者にお知らせください。", en="The record of erasures can't be written, so the erasing was not finished. Please tell the bot's operator.")
ErasureUnfinished = StorageError.define("ErasureUnfinished", ja="一部をまだ消しきれていません。残りは自動で消えます。それまでに保存されたものも、一緒に消えます。終わったかどうかは </privacy show> で分かります。", en="A part could not be erased yet. The rest goes by itself, and with it whatever is stored until then. </privacy show> tells when it is done.")
DatabaseLocked = StorageError.define("DatabaseLocked", ja="保存場所がほかの処理でふさがっていて、保存できませんでした。少し待って、もう一度お試しください。", en="Where I keep things is busy with something else, so I could not save that. Please try again in a moment.")
DatabaseFull = StorageError.define("DatabaseFull", ja="保存場所がいっぱいで、保存できませんでした。ボットの管理者にお知らせください。", en="There is no room left where I keep things, so I could not save that. Please tell the bot's operator.")
DatabaseForbidden = StorageError.define("DatabaseForbidden", ja="保存場所を使う権限が足りないため、保存できませんでした。ボットの管理者にお知らせください。", en="I am not allowed to use where I keep things, so I could not save that. Please tell the bot's operator.")
DatabaseReadOnly = StorageError.define("DatabaseReadOnly", ja="保存場所に書き込めないため、保存できませんでした。ボットの管理者にお知らせください。", en="I can't write to where I keep things, so I could not save that. Please tell the bot's operator.")
DatabaseUnreachable = StorageError.define("DatabaseUnreachable", ja="保存場所につながりません。少し待って、もう一度お試しください。", en="I can't reach where I keep things. Please try again in a moment.")
DatabaseCrowded = StorageError.define("DatabaseCrowded", ja="保存場所が混み合っています。少し待って、もう一度お試しください。", en="Where I keep things is crowded right now. Please try again in a moment.")
PoolerForgets = StorageError.define("PoolerForgets", ja="保存場所の設定に誤りがあり、保存できませんでした。ボットの管理者にお知らせください。", en="Where I keep things is not set up right, so I could not save that. Please tell the bot's operator.")
DatabaseImpatient = StorageError.define("DatabaseImpatient", ja="保存場所で決められた時間のうちに終わらず、途中で止められました。もう一度お試しください。続くときはボットの管理者にお知らせください。", en="That took longer than the place where I keep things allows, and was ended. Please try again; if it goes on, tell the bot's operator.")
CommitUncertain = StorageError.define("CommitUncertain", ja="保存場所との接続が切れたため、保存できたかどうかわかりません。確かめてから、もう一度お試しください。", en="I lost the place where I keep things and can't tell whether that was saved. Please look, then try again.")
DatabaseDamaged = StorageError.define("DatabaseDamaged", ja="保存場所が壊れているため、いまはお答えできません。ボットの管理者にお知らせください。", en="The place where I keep things is damaged, so I can't answer now. Please tell the bot's operator.")


class TurnError(CcBotError): ...


Busy = TurnError.define("Busy", ja="前の質問に順番に答えています。返事が届いてから、もう一度お聞きください。", en="I'm still answering your earlier questions. Please ask again when they are answered.")
Crowded = TurnError.define("Crowded", ja="ただいまとても混み合っています。しばらくしてから、もう一度お聞きください。", en="Too many people are asking right now. Please ask again in a while.")
ShuttingDown = TurnError.define("ShuttingDown", ja="ただいま再起動の準備中です。少し待ってから、もう一度お聞きください。", en="I'm about to restart. Please ask again in a moment.")
Postponed = ShuttingDown.define("Postponed", ja="ただいま再起動しています。戻りしだい、ここでお答えします。", en="I'm restarting. I'll answer here as soon as I'm back.")
NotNewest = TurnError.define("NotNewest", ja="この回答は最新ではなくなりました。続きは </ask> でお聞きください。", en="This is no longer the newest answer. Please go on with </ask>.")
AnswerInUse = TurnError.define("AnswerInUse", ja="この回答のツールを実行しています。終わるのを待つか、「止める」を押してから、もう一度押してください。", en="A tool of this answer is in use. Wait for its end, or press Stop first, and then press this again.")
AnswerUnderway = TurnError.define("AnswerUnderway", ja="いま回答を作り直しているので、まだ実行していません。終わってもボタンが残っていたら、もう一度押してください。", en="This answer is being given anew, so nothing was done yet. If the button is still here after that, press it again.")
AgentGone = TurnError.define("AgentGone", ja="この回答をしたエージェントは、もうここでは使えません。</ask> で続けてください。", en="The agent that gave this answer can't be used here any more. Please go on with </ask>.")
BeingErased = TurnError.define("BeingErased", ja="データの消去が始まったので、この回答は取りやめました。消去が終わってから、もう一度お聞きください。", en="Your data is being erased, so this answer was dropped. Please ask again once that is done.")
HearingFailed = TurnError.define("HearingFailed", ja="🎤 今は音声を聞き取れません。少し待ってもう一度送るか、文字で送ってください。", en="🎤 I can't listen right now. Please send it again in a moment, or type it.")
HearingNotSetUp = HearingFailed.define("HearingNotSetUp", ja="🎤 音声を聞き取る設定に問題があります。ボットの管理者にお知らせください。それまでは文字で送ってください。", en="🎤 Listening is not set up right. Please tell the bot's operator, and type it until then.")


class ModelError(TurnError):
    ja = "AIモデルから返事をもらえませんでした。もう一度お試しください。"
    en = "The AI model gave no answer. Please try again."


ModelUnavailable = ModelError.define("ModelUnavailable", ja="AIモデルにつながらないか、混み合っています。しばらくしてから、もう一度お聞きください。", en="The AI model is busy or can't be reached. Please ask again in a while.")
ModelUnreachable = ModelUnavailable.define("ModelUnreachable", ja="AIモデルのサーバーにつながりません。少し待ってから、もう一度お聞きください。続くときは、ボットの管理者にお知らせください。", en="The AI model's server can't be reached. Please ask again in a while, and tell the bot's operator if it goes on.")
ModelSaidNothing = ModelError.define("ModelSaidNothing", ja="AIモデルの返事が空でした。もう一度お聞きになるか、言い方を変えてみてください。", en="The AI model's answer was empty. Please ask again, or put it another way.")
ModelOutOfRoom = ModelError.define("ModelOutOfRoom", ja="AIモデルが考えるだけで字数の上限に達し、返事を書けませんでした。質問を短くするか、分けてお聞きください。", en="The AI model used up its tokens on thinking and wrote no answer. Please ask a shorter or simpler question.")
ModelWentInCircles = ModelError.define("ModelWentInCircles", ja="ツールを繰り返し使いましたが堂々めぐりになり、答えを出せませんでした。変えたものがあれば下に出ています。小さく分けて、もう一度お聞きください。", en="I went round in circles with my tools and found no answer. Whatever I changed is shown below. Please ask again in smaller steps.")
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
    en = "You have used up what there is for now. Please ask again {resets}; </usage> shows what you used."


ServerLimitReached = LimitReached.define("ServerLimitReached", ja="このサーバーで使える分を使いきりました。次に使えるのは{resets}です。", en="This server has used up what there is for now. Please ask again {resets}.")
TooManyAtOnce = LimitReached.define("TooManyAtOnce", ja="同時にお答えできる数に達しています。前の返事が届いてから、もう一度お聞きください。", en="As many questions as may be are being answered. Please ask again when one of them is.")
