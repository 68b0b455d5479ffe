"""Sentences for when something goes wrong: what happened, and what to do next."""

from collections.abc import Mapping
from typing import Final

from cc_bot.domain import errors
from cc_bot.domain.errors import CcBotError
from cc_bot.texts.area import Area, Sentence, by_key

_UNEXPECTED: Final = Sentence(
    ja="うまくいきませんでした。もう一度お試しください。", en="Something went wrong. Please try again."
)
_READ_ONLY: Final = Sentence(
    ja="保存場所に書き込めないため、保存できませんでした。ボットの管理者にお知らせください。",
    en="I can't write to where I keep things, so I could not save that. Please tell the bot's operator.",
)
"""The reason is for the operator."""

SENTENCES: Final[Mapping[type[CcBotError], Sentence]] = {
    errors.CcBotError: _UNEXPECTED,
    errors.InputError: Sentence(
        ja="入力を確かめて、もう一度お試しください。", en="Please check what you entered and try again."
    ),
    errors.EmptyQuestion: Sentence(
        ja="質問が空です。聞きたいことを書いて、もう一度送ってください。",
        en="The question is empty. Write what you would like to know and send it again.",
    ),
    errors.QuestionTooLong: Sentence(
        ja="質問が長すぎます（{length}文字）。{limit}文字までにするか、テキストファイルで添付してください。",
        en="The question is too long ({length} characters). Keep it under {limit}, or attach it as a text file.",
    ),
    errors.EmptyMemory: Sentence(
        ja="覚える内容が空です。覚えてほしいことを書いてください。",
        en="There is nothing to remember. Write what you would like me to keep.",
    ),
    errors.MemoryTooLong: Sentence(
        ja="1件のメモリは{limit}文字までです（今は{length}文字）。短くするか、分けて登録してください。",
        en="One memory holds up to {limit} characters (this has {length}). Shorten it or split it.",
    ),
    errors.BesideTooLong: Sentence(
        ja="カテゴリやタグは、合わせて{limit}文字までです（今は{length}文字）。短くしてください。",
        en="Category and tags together hold up to {limit} characters (these have {length}). Please shorten them.",
    ),
    errors.CategoryTooLong: Sentence(
        ja="カテゴリは{limit}文字までです（今は{length}文字）。短くしてください。",
        en="A category holds up to {limit} characters (this has {length}). Please shorten it.",
    ),
    errors.CategoryNeeded: Sentence(
        ja="カテゴリの名前を書いてください。", en="Please write the name of the category."
    ),
    errors.TagTooLong: Sentence(
        ja="タグは1つ{limit}文字までです（{length}文字のものがあります）。短くするか、カンマか空白で区切ってください。",
        en="A tag holds up to {limit} characters (one has {length}). Shorten it, or separate tags by commas or spaces.",
    ),
    errors.TooManyTags: Sentence(
        ja="タグは{limit}個までです（今は{found}個）。減らしてください。",
        en="A memory has up to {limit} tags (these are {found}). Please leave some out.",
    ),
    errors.TooManyMemories: Sentence(
        ja="メモリは{limit}件までです。</memory list> で見て、要らないものを削除してください。",
        en="You have as many memories as you can keep ({limit}). See </memory list> and delete those you no longer need.",
    ),
    errors.MemoryFull: Sentence(
        ja="メモリに使える容量（{limit}）がいっぱいです。</memory list> で見て、要らないものを削除してください。",
        en="Your memories fill all the room there is ({limit}). See </memory list> and delete those you no longer need.",
    ),
    errors.MemoryEditOutdated: Sentence(
        ja="編集しているあいだに、このメモリが変わりました。まだ何も保存していません。今の内容を見て、もう一度お試しください。",
        en="This memory changed while you were editing it. Nothing was saved. Please look at what it says now and try again.",
    ),
    errors.TooManyPinned: Sentence(
        ja="ピン留めできるのは{limit}件までです。</memory list> で 📌 の付いたものを見て、どれかのピンを外してください。",
        en="You can pin up to {limit} memories. See </memory list> for those with 📌, and unpin one.",
    ),
    errors.TooManyImports: Sentence(
        ja="取り込みが続いています。次に取り込めるのは{resets}です。",
        en="You have imported as often as is possible for now. Please try again {resets}.",
    ),
    errors.FilesInLine: Sentence(
        ja="前のファイルをまだ処理しています。終わってから、もう一度お試しください。",
        en="I'm still at work on your earlier files. Please try again when they are done.",
    ),
    errors.TooManyCommands: Sentence(
        ja="操作が続いています。次に使えるのは{resets}です。少し待ってから、もう一度お試しください。",
        en="That was a lot at once. Please try again {resets}.",
    ),
    errors.NotSignedIn: Sentence(
        ja="サインインしていません。Discord で </web> を実行すると、ページを開くリンクが届きます。",
        en="You are not signed in. Use </web> on Discord to get a link to your pages.",
    ),
    errors.LinkOver: Sentence(
        ja="このリンクはもう使えません。Discord で </web> を実行すると、新しいリンクが届きます。",
        en="This link no longer works. Use </web> on Discord to get a new one.",
    ),
    errors.TooManyLinks: Sentence(
        ja="使えないリンクが続いています。1分ほど待ってから、新しいリンクでお試しください。",
        en="Too many links that don't work were tried. Please wait a minute, then use a new link.",
    ),
    errors.ForeignRequest: Sentence(
        ja="このページの外から届いた操作なので、何も変えていません。ページを開き直してお試しください。",
        en="That did not come from this page, so nothing was changed. Open the page again and retry.",
    ),
    errors.MemoryHidden: Sentence(
        ja="このメモリは少し前に削除されました。10分以内なら、このメモリのページで元に戻してから変えられます。",
        en="This memory was deleted a moment ago. Within ten minutes you can restore it on its page, then change it.",
    ),
    errors.TooManyChosen: Sentence(
        ja="一度に選べるのは{limit}件までです。減らしてお試しください。",
        en="You can choose {limit} at a time. Please choose fewer.",
    ),
    errors.CanvasSwitched: Sentence(
        ja="別のエージェントのキャンバスに切り替わったので、何も外していません。ページを開き直してお試しください。",
        en="Another agent's canvas is up by now, so nothing was taken down. Open the page again and retry.",
    ),
    errors.PageOfAnother: Sentence(
        ja="このページを開いたあと、このブラウザで別の方がサインインしたので、何も変えていません。ページを開き直してください。",
        en="Somebody else has signed in with this browser since, so nothing was changed. Please open the page again.",
    ),
    errors.ReminderEditOutdated: Sentence(
        ja="このお知らせは、ページを開いたあとで変わりました。いまの内容を確かめて、もう一度保存してください。",
        en="This reminder has changed since you opened the page. Look at what it says now, then save again.",
    ),
    errors.ForeignHost: Sentence(
        ja="このアドレスからはページを開けません。Discord で </web> を実行して届くリンクから開いてください。",
        en="The pages can't be opened under this address. Use </web> on Discord to get a link to them.",
    ),
    errors.TooManyRequests: Sentence(
        ja="操作が続いています。少し待ってから、もう一度お試しください。",
        en="That was a lot at once. Please wait a moment and try again.",
    ),
    errors.RequestTooLarge: Sentence(
        ja="送られた内容が大きすぎます（ファイルは 1 MB まで）。小さく分けてお試しください。",
        en="That is too large to send (a file: 1 MB at most). Please send it in smaller parts.",
    ),
    errors.NothingHere: Sentence(
        ja="お探しのものは見つかりません。一覧から開き直してください。",
        en="There is nothing here. Please open it from its list.",
    ),
    errors.SecretNotStored: Sentence(
        ja="パスワードやカード番号のように見えるため、保存しませんでした。大切な情報は専用の管理アプリでの保管をお勧めします。",
        en="That looks like a password, token, card or key number, so I did not store it. A password manager is the place for it.",
    ),
    errors.MemoryPaused: Sentence(
        ja="メモリは一時停止中です。</memory resume> で再開できます。",
        en="Memory is paused. Resume it with </memory resume>.",
    ),
    errors.MemoryNotFound: Sentence(
        ja="#{id} のメモリは見つかりません。</memory list> で番号を確かめてください。",
        en="There is no memory #{id}. See </memory list> for the numbers.",
    ),
    errors.ImportNotUnderstood: Sentence(
        ja="このファイルはメモリの一覧として読めませんでした。</memory export> の JSON か、1行に1件のテキストを添付してください。",
        en="I can't read this file as a list of memories. Attach the JSON of </memory export>, or a text with one memory a line.",
    ),
    errors.TooManyToImport: Sentence(
        ja="一度に取り込めるのは{limit}件までです。いくつかのファイルに分けてください。",
        en="One import takes up to {limit} memories. Please split the file.",
    ),
    errors.EndNotUnderstood: Sentence(
        ja="期限が読み取れませんでした。「12月31日」「来週の金曜」「3日後」「2026-12-31」のように書いてください。",
        en="I can't read that end. Write it like: Dec 31, next Friday, in 3 days, 2026-12-31.",
    ),
    errors.EndPassed: Sentence(
        ja="その期限はもう過ぎています。これからの日付を書いてください。",
        en="That end is over. Please give a date that is still to come.",
    ),
    errors.UnknownTimezone: Sentence(
        ja="そのタイムゾーンは見つかりません。東京 や Asia/Tokyo のような名前で指定してください。",
        en="I don't know that time zone. Please give a city like London, or a name like Europe/London.",
    ),
    errors.UnknownAgent: Sentence(
        ja="その名前のエージェントは、ここでは使えません。</agent list> で使えるものを確かめてください。",
        en="There is no agent of that name here. See </agent list> for those that there are.",
    ),
    errors.EmptyReminder: Sentence(
        ja="お知らせする内容が空です。何をお知らせするかを書いてください。",
        en="There is nothing to remind you of. Write what it is about.",
    ),
    errors.ReminderTooLong: Sentence(
        ja="お知らせの内容は{limit}文字までです（今は{length}文字）。短くしてください。",
        en="A reminder holds up to {limit} characters (this has {length}). Please shorten it.",
    ),
    errors.TooManySchedules: Sentence(
        ja="お知らせは{limit}件までです。</remind list> で見て、要らないものを消してください。",
        en="There can be {limit} reminders at most. See </remind list> and delete what you no longer need.",
    ),
    errors.ScheduleNotFound: Sentence(
        ja="#{id} のお知らせは見つかりません。</remind list> で番号を確かめてください。",
        en="There is no reminder #{id}. See </remind list> for the numbers.",
    ),
    errors.ProposalGone: Sentence(
        ja="この提案はもう決まっているか、取り下げられたか、期限が過ぎています。必要なら、もう一度お聞きください。",
        en="This was decided already, withdrawn, or its time is over. Ask again if you still want it.",
    ),
    errors.ProposalOutdated: Sentence(
        ja="提案のあとに元の内容が変わったので、何もしていません。必要なら、もう一度お聞きください。",
        en="What this would change has changed since, so nothing was done. Ask again if you still want it.",
    ),
    errors.CallGone: Sentence(
        ja="このツールを使うかどうかは、もう決まっているか、取り下げられたか、期限（{minutes}分）が過ぎています。必要なら、もう一度お聞きください。",
        en="Whether this tool is used was decided already, withdrawn, or its {minutes} minutes are over. Ask again if you still want it.",
    ),
    errors.CallExpired: Sentence(
        ja="{minutes}分を過ぎたので、実行していません。必要なら、もう一度お聞きください。",
        en="{minutes} minutes have passed, so it was not done. Ask again if you still want it.",
    ),
    errors.FieldEmpty: Sentence(
        ja="「{name}」を書いてください。", en="“{name}” is needed. Please fill it in."
    ),
    errors.FieldNotANumber: Sentence(
        ja="「{name}」は数字で書いてください。", en="“{name}” has to be a number."
    ),
    errors.FieldNotAWholeNumber: Sentence(
        ja="「{name}」は整数で書いてください。", en="“{name}” has to be a whole number."
    ),
    errors.FieldNotYesOrNo: Sentence(
        ja="「{name}」は「はい」か「いいえ」で書いてください。", en="“{name}” has to be “yes” or “no”."
    ),
    errors.FieldNotAChoice: Sentence(
        ja="「{name}」は次の中から選んで書いてください: {known}", en="“{name}” has to be one of: {known}"
    ),
    errors.FieldOutOfBounds: Sentence(
        ja="「{name}」は {expected} の範囲で書いてください。", en="“{name}” has to be within {expected}."
    ),
    errors.FieldLengthOutOfBounds: Sentence(
        ja="「{name}」は {expected} 文字で書いてください。", en="“{name}” has to have {expected} characters."
    ),
    errors.WhenNotUnderstood: Sentence(
        ja="いつなのかが読み取れませんでした。「10分後」「明日9時」「12月3日 18:00」のように書いてください。",
        en="I can't tell when that is. Write it like: in 10 minutes, tomorrow at 9am, Dec 3 18:00.",
    ),
    errors.NoSuchTime: Sentence(
        ja="その日付や時刻はありません。日にち、曜日、時刻を確かめてください。",
        en="There is no such date or time. Please check the day, the weekday and the time.",
    ),
    errors.SeveralTimes: Sentence(
        ja="時刻がいくつもあります。お知らせ1件につき時刻は1つなので、分けて予約してください。毎日なら「毎日9時と18時」のように書けます。",
        en="Those are several times. A reminder has one, so please set them one by one. What comes every day may have more: every day at 9 and 18:00.",
    ),
    errors.WhenPassed: Sentence(
        ja="その時刻はもう過ぎています。これからの時刻を書いてください。",
        en="That time is over. Please give one that is still to come.",
    ),
    errors.WhenTooFar: Sentence(
        ja="先すぎます。{limit}年先までの時刻を書いてください。",
        en="That is too far away. Please give a time within {limit} years.",
    ),
    errors.RepeatNotUnderstood: Sentence(
        ja="繰り返しが読み取れませんでした。「毎日9時と18時」「月水金 7:30」「隔週の火曜 10時」「3日ごとに8時」「毎月第2水曜」「毎月末」のように書いてください。",
        en="I can't tell how that repeats. Write it like: every day at 8am and 6pm, mon/wed/fri 7:30, every other Tuesday at 10, every 3 days at 8, every 2nd Wednesday of the month, on the last day of every month.",
    ),
    errors.RepeatTooOften: Sentence(
        ja="繰り返しは1時間に1回までです。間隔をもっと空けてください。",
        en="A reminder repeats at most once an hour. Please leave more time between.",
    ),
    errors.SubjectNotUnderstood: Sentence(
        ja="相手が読み取れませんでした。@人、@ロール、#チャンネル、またはIDと「区分」で指定してください。",
        en="I can't tell whom that means. Give @user, @role, #channel, or an id with its kind.",
    ),
    errors.IdNotUnderstood: Sentence(
        ja="IDが読み取れませんでした。Discord の「IDをコピー」で分かる数字を入れてください。",
        en="I can't read that id. Please enter the number that Discord's “Copy ID” gives.",
    ),
    errors.ModelsNotUnderstood: Sentence(
        ja="モデルの名前が読み取れませんでした。名前をコンマで区切って、5つまで書いてください。",
        en="I can't read those names. Give up to five models, separated by commas.",
    ),
    errors.ToolServerUnknown: Sentence(
        ja="その名前のツールのサーバーはありません。</admin tools show> で名前を確かめてください。",
        en="There is no server with tools of that name. </admin tools show> has the names.",
    ),
    errors.ToolListNotShown: Sentence(
        ja="コードがいまのツールのものではないため、何も承認していません。</admin tools show> にサーバーの名前を付けて、いまの内容とコードを確かめてください。",
        en="That is not the code of the tools as they are now, so nothing was accepted. Read them again with </admin tools show> and the name of the server, which gives the code.",
    ),
    errors.LimitNotUnderstood: Sentence(
        ja="制限が読み取れませんでした。制限を選び、1以上の整数を書いてください。空のままなら、制限なしになります。",
        en="I can't read that limit. Choose which one, and write a whole number from 1 on; nothing means no limit.",
    ),
    errors.LimitNotForChannels: Sentence(
        ja="制限は、全員・人・ロール・サーバーごとに決められます。チャンネルごとには決められません。",
        en="Limits are for everyone, a user, a role or a server. A channel can't have one.",
    ),
    errors.LimitNotForServers: Sentence(
        ja="この制限は、全員・人・ロールごとに決められます。サーバー全体では決められません。",
        en="This limit is for everyone, a user or a role. A server can't have one.",
    ),
    errors.AttachmentTooLarge: Sentence(
        ja="添付ファイルが大きすぎます。{limit}までのファイルを添付してください。",
        en="The attachment is too large. Please attach a file of up to {limit}.",
    ),
    errors.AttachmentNotSupported: Sentence(
        ja="このファイルは読めません。画像（PNG・JPEG・GIF・WebP）、テキスト、文書（PDF・Word・Excel・PowerPoint・EPUBなど）、音声（OGG・MP3・M4A・WAV・WebM）を添付してください。",
        en="I can't read this file. Please attach an image (PNG, JPEG, GIF, WebP), a text file, a document (PDF, Word, Excel, PowerPoint, EPUB and others) or a recording (OGG, MP3, M4A, WAV, WebM).",
    ),
    errors.AttachmentNotFetched: Sentence(
        ja="添付ファイルを受け取れませんでした。もう一度添付して送ってください。",
        en="I could not get the attachment. Please attach it and send again.",
    ),
    errors.DocumentUnreadable: Sentence(
        ja="このファイルは開けませんでした。壊れているか、複雑すぎるようです。保存し直すか、必要なところだけを送ってください。",
        en="I could not open this file: it seems damaged or too complex. Please save it again, or send the part that matters.",
    ),
    errors.DocumentLocked: Sentence(
        ja="このファイルにはパスワードがかかっています。パスワードを外して、もう一度送ってください。",
        en="This file is protected by a password. Please take the password off and send it again.",
    ),
    errors.DocumentTooLong: Sentence(
        ja="この文書は長すぎます。必要なところだけを分けて送ってください。1,000ページ、10万セル、100万字まで読めます。",
        en="This document is too long. Please send the part that matters: up to 1,000 pages, 100,000 cells or a million characters.",
    ),
    errors.DocumentOldFormat: Sentence(
        ja="古い形式（.doc・.xls・.pptなど）のファイルは読めません。Officeなどで開き、.docx・.xlsx・.pptxかPDFで保存し直して、もう一度送ってください。",
        en="I can't read files of the old formats (.doc, .xls, .ppt). Please open it in Office, save it as .docx, .xlsx, .pptx or PDF, and send it again.",
    ),
    errors.DocumentsWait: Sentence(
        ja="今はほかのファイルを読んでいて、手が回りませんでした。少し待って、もう一度送ってください。",
        en="I am busy reading other files right now. Please wait a moment and send it again.",
    ),
    errors.DocumentsNotInstalled: Sentence(
        ja="このボットは、PDFとExcelを読む準備ができていません。管理者に伝えるか、文章をテキストで送ってください。",
        en="This bot is not set up to read PDF and Excel. Please tell the bot's operator, or send the text itself.",
    ),
    errors.DocumentsNotConfined: Sentence(
        ja="このボットが動いているシステムでは文書を安全に読めないため、開きませんでした。管理者に伝えるか、文章をテキストで送ってください。",
        en="I did not open this document: the system I run on can't read it safely. Please tell the bot's operator, or send the text itself.",
    ),
    errors.RecordingTooLong: Sentence(
        ja="音声が長すぎます。{minutes}分までにするか、分けて送ってください。",
        en="The recording is too long. Please keep it under {minutes} minutes, or send it in parts.",
    ),
    errors.RecordingEmpty: Sentence(
        ja="音声の長さが0秒でした。録音し直して、もう一度送ってください。",
        en="The recording is 0 seconds long. Please record it again and send it.",
    ),
    errors.RecordingRefused: Sentence(
        ja="この音声は受け付けられませんでした。録音し直すか、文字で送ってください。",
        en="This recording could not be taken. Please record it again, or type it.",
    ),
    errors.NothingHeard: Sentence(
        ja="🎤 何も聞き取れませんでした。もう一度録音するか、文字で送ってください。",
        en="🎤 I couldn't hear anything. Please record it again, or type it.",
    ),
    errors.NobodyListens: Sentence(
        ja="🎤 このボットは音声を聞き取れません。お手数ですが、文字で送ってください。",
        en="🎤 I can't listen to voice messages here. Please type it instead.",
    ),
    errors.HearingFailed: Sentence(
        ja="🎤 今は音声を聞き取れません。少し待ってもう一度送るか、文字で送ってください。",
        en="🎤 I can't listen right now. Please send it again in a moment, or type it.",
    ),
    errors.HearingNotSetUp: Sentence(
        ja="🎤 音声を聞き取る設定に問題があります。ボットの管理者にお知らせください。それまでは文字で送ってください。",
        en="🎤 Listening is not set up right. Please tell the bot's operator, and type it until then.",
    ),
    errors.NothingToRead: Sentence(
        ja="このメッセージには、読めるものがありません。文章や画像のあるメッセージで選んでください。",
        en="There is nothing to read in this message. Choose one with a text or a picture.",
    ),
    errors.NothingToTranslate: Sentence(
        ja="このメッセージには、翻訳する文章がありません。文章のあるメッセージで選んでください。",
        en="There is no text to translate in this message. Choose one with a text.",
    ),
    errors.TargetNotShown: Sentence(
        ja="そのメッセージは、もう私からは見えません。まだ残っていれば、メッセージのメニューからもう一度選んでください。",
        en="I can no longer see that message. If it is still there, please choose from its menu once more.",
    ),
    errors.ConversationNotShown: Sentence(
        ja="ここでのやりとりは、私には読めません。私がいて、メッセージ履歴を読めるチャンネルでお試しください。",
        en="I can't read what was said here. Please try in a channel where I am and may read the message history.",
    ),
    errors.TurnError: _UNEXPECTED,
    errors.Busy: Sentence(
        ja="前の質問に順番に答えています。返事が届いてから、もう一度お聞きください。",
        en="I'm still answering your earlier questions. Please ask again when they are answered.",
    ),
    errors.Crowded: Sentence(
        ja="ただいまとても混み合っています。しばらくしてから、もう一度お聞きください。",
        en="Too many people are asking right now. Please ask again in a while.",
    ),
    errors.ShuttingDown: Sentence(
        ja="ただいま再起動の準備中です。少し待ってから、もう一度お聞きください。",
        en="I'm about to restart. Please ask again in a moment.",
    ),
    errors.Postponed: Sentence(
        ja="ただいま再起動しています。戻りしだい、ここでお答えします。",
        en="I'm restarting. I'll answer here as soon as I'm back.",
    ),
    errors.NotNewest: Sentence(
        ja="この回答は最新ではなくなりました。続きは </ask> でお聞きください。",
        en="This is no longer the newest answer. Please go on with </ask>.",
    ),
    errors.AnswerInUse: Sentence(
        ja="この回答のツールを実行しています。終わるのを待つか、「止める」を押してから、もう一度押してください。",
        en="A tool of this answer is in use. Wait for its end, or press Stop first, and then press this again.",
    ),
    errors.AnswerUnderway: Sentence(
        ja="いま回答を作り直しているので、まだ実行していません。終わってもボタンが残っていたら、もう一度押してください。",
        en="This answer is being given anew, so nothing was done yet. If the button is still here after that, press it again.",
    ),
    errors.AgentGone: Sentence(
        ja="この回答をしたエージェントは、もうここでは使えません。</ask> で続けてください。",
        en="The agent that gave this answer can't be used here any more. Please go on with </ask>.",
    ),
    errors.BeingErased: Sentence(
        ja="データの消去が始まったので、この回答は取りやめました。消去が終わってから、もう一度お聞きください。",
        en="Your data is being erased, so this answer was dropped. Please ask again once that is done.",
    ),
    errors.LimitReached: Sentence(
        ja="いま使える分を使いきりました。次に使えるのは{resets}です。</usage> で使った分が見られます。",
        en="You have used up what there is for now. Please ask again {resets}; </usage> shows what you used.",
    ),
    errors.ServerLimitReached: Sentence(
        ja="このサーバーで使える分を使いきりました。次に使えるのは{resets}です。",
        en="This server has used up what there is for now. Please ask again {resets}.",
    ),
    errors.TooManyAtOnce: Sentence(
        ja="同時にお答えできる数に達しています。前の返事が届いてから、もう一度お聞きください。",
        en="As many questions as may be are being answered. Please ask again when one of them is.",
    ),
    errors.ModelError: Sentence(
        ja="AIモデルから返事をもらえませんでした。もう一度お試しください。",
        en="The AI model gave no answer. Please try again.",
    ),
    errors.ModelUnavailable: Sentence(
        ja="AIモデルにつながらないか、混み合っています。しばらくしてから、もう一度お聞きください。",
        en="The AI model is busy or can't be reached. Please ask again in a while.",
    ),
    # Without the host: that is for the operator.
    errors.ModelUnreachable: Sentence(
        ja="AIモデルのサーバーにつながりません。少し待ってから、もう一度お聞きください。続くときは、ボットの管理者にお知らせください。",
        en="The AI model's server can't be reached. Please ask again in a while, and tell the bot's operator if it goes on.",
    ),
    errors.ModelSaidNothing: Sentence(
        ja="AIモデルの返事が空でした。もう一度お聞きになるか、言い方を変えてみてください。",
        en="The AI model's answer was empty. Please ask again, or put it another way.",
    ),
    errors.ModelOutOfRoom: Sentence(
        ja="AIモデルが考えるだけで字数の上限に達し、返事を書けませんでした。質問を短くするか、分けてお聞きください。",
        en="The AI model used up its tokens on thinking and wrote no answer. Please ask a shorter or simpler question.",
    ),
    # Also in the place of an answer that has changed something.
    errors.ModelWentInCircles: Sentence(
        ja="ツールを繰り返し使いましたが堂々めぐりになり、答えを出せませんでした。変えたものがあれば下に出ています。小さく分けて、もう一度お聞きください。",
        en="I went round in circles with my tools and found no answer. Whatever I changed is shown below. Please ask again in smaller steps.",
    ),
    errors.ModelRefusedKey: Sentence(
        ja="AIモデルのAPIキーが受け付けられませんでした。ボットの管理者にお知らせください。",
        en="The AI model did not accept its API key. Please tell the bot's operator.",
    ),
    errors.ModelRefusedRequest: Sentence(
        ja="AIモデルがこの質問を受け付けませんでした。言い方を変えるか、ボットの管理者にお知らせください。",
        en="The AI model did not accept this question. Put it another way, or tell the bot's operator.",
    ),
    # Without its name: that is for the operator.
    errors.ModelNotFound: Sentence(
        ja="設定されているAIモデルが見つかりません。ボットの管理者にお知らせください。",
        en="The AI model that is set here can't be found. Please tell the bot's operator.",
    ),
    errors.ContextTooLong: Sentence(
        ja="質問が長すぎて、AIモデルが一度に読みきれません。短くするか、いくつかに分けてお聞きください。",
        en="The question is too long for the AI model to read at once. Please shorten it or ask it in parts.",
    ),
    errors.ToolServerError: _UNEXPECTED,
    errors.ToolServerAway: Sentence(
        ja="いまは「{server}」につながらないため、使えません。しばらくしてから、もう一度お試しください。",
        en="“{server}” is not available now. Please try again in a while.",
    ),
    errors.CallPostponed: Sentence(
        ja="いまは「{server}」につながらないため、まだ実行していません。しばらくしてから、期限（{minutes}分）のうちにもう一度お試しください。",
        en="“{server}” is not available now, so nothing was done yet. Please try again in a while, within the {minutes} minutes.",
    ),
    errors.ToolGone: Sentence(
        ja="「{server}」の「{tool}」は、もう使えません。",
        en="“{tool}” of “{server}” is not there any more.",
    ),
    errors.CallOutdated: Sentence(
        ja="「{server}」の「{tool}」の内容か決まりが変わったので、実行しませんでした。もう一度お尋ねください。",
        en="“{tool}” of “{server}” or the rules for it changed meanwhile, so it was not done. Please ask again.",
    ),
    errors.ToolTimedOut: Sentence(
        ja="「{server}」が {seconds} 秒たっても応えないので、打ち切りました。実行された可能性があります。",
        en="“{server}” did not answer within {seconds} seconds, so I gave up. It may have been done.",
    ),
    errors.ToolCallLost: Sentence(
        ja="実行の途中で「{server}」との接続が切れました。実行されたかどうかは分からないので、繰り返す前に確かめてください。",
        en="“{server}” was lost during the call. It may have been done: please check before you repeat it.",
    ),
    errors.SecretAsked: Sentence(
        ja="「{server}」がパスワードのような秘密をたずねてきたので、断りました。",
        en="“{server}” asked for a secret, such as a password. That was declined.",
    ),
    errors.FormUnsuitable: Sentence(
        ja="「{server}」の質問は、ここでは答えられない形だったので、断りました。",
        en="“{server}” asked something in a way that can't be answered here. That was declined.",
    ),
    errors.QuestionUnclear: Sentence(
        ja="「{server}」の質問は、どの実行についてのものか分からなかったので、断りました。ほかの実行が終わってから、もう一度お試しください。",
        en="“{server}” asked something without saying in which of several calls, and that was declined. Please try again once the others are over.",
    ),
    errors.AccessError: Sentence(ja="この操作は、ここでは使えません。", en="That can't be done here."),
    errors.NotAllowed: Sentence(
        ja="このボットは、ここではお使いいただけない設定になっています。使いたいときはボットの管理者にお知らせください。",
        en="This bot is set up not to answer here. If you would like to use it, tell the bot's operator.",
    ),
    errors.OwnersOnly: Sentence(
        ja="この操作は、ボットの管理者だけが使えます。", en="Only the bot's owners can do that."
    ),
    errors.UnderMaintenance: Sentence(
        ja="ただいまメンテナンス中です。しばらくしてから、もう一度お試しください。{note}",
        en="I'm down for maintenance. Please try again in a while.{note}",
    ),
    errors.StorageError: Sentence(
        ja="保存できませんでした。少し待って、もう一度お試しください。続くときはボットの管理者にお知らせください。",
        en="I could not save that. Please try again in a moment; if it goes on, tell the bot's operator.",
    ),
    errors.ErasureUnfinished: Sentence(
        ja="一部をまだ消しきれていません。残りは自動で消えます。それまでに保存されたものも、一緒に消えます。終わったかどうかは </privacy show> で分かります。",
        en="A part could not be erased yet. The rest goes by itself, and with it whatever is stored until then. </privacy show> tells when it is done.",
    ),
    errors.ConversationGone: Sentence(
        ja="この回答は残りません。お答えしているあいだに、質問か会話が消されました。",
        en="This answer is not kept: the question or its conversation was erased meanwhile.",
    ),
    errors.DutyLost: Sentence(
        ja="この処理は、ほかのプロセスが引き継ぎました。",
        en="Another process has taken this over.",
    ),
    errors.TurnLost: Sentence(
        ja="この回答は残りません。応答が途切れたあいだに、打ち切られました。もう一度お尋ねください。",
        en="This answer is not kept: it was given up while I was not responding. Please ask again.",
    ),
    errors.ErasureNotNoted: Sentence(
        ja="消去の記録を書けないため、消去を終えられませんでした。ボットの管理者にお知らせください。",
        en="The record of erasures can't be written, so the erasing was not finished. Please tell the bot's operator.",
    ),
    errors.DatabaseLocked: Sentence(
        ja="保存場所がほかの処理でふさがっていて、保存できませんでした。少し待って、もう一度お試しください。",
        en="Where I keep things is busy with something else, so I could not save that. Please try again in a moment.",
    ),
    errors.DatabaseFull: Sentence(
        ja="保存場所がいっぱいで、保存できませんでした。ボットの管理者にお知らせください。",
        en="There is no room left where I keep things, so I could not save that. Please tell the bot's operator.",
    ),
    errors.DatabaseUnreachable: Sentence(
        ja="保存場所につながりません。少し待って、もう一度お試しください。",
        en="I can't reach where I keep things. Please try again in a moment.",
    ),
    errors.DatabaseCrowded: Sentence(
        ja="保存場所が混み合っています。少し待って、もう一度お試しください。",
        en="Where I keep things is crowded right now. Please try again in a moment.",
    ),
    errors.PoolerForgets: Sentence(
        ja="保存場所の設定に誤りがあり、保存できませんでした。ボットの管理者にお知らせください。",
        en="Where I keep things is not set up right, so I could not save that. Please tell the bot's operator.",
    ),
    errors.DatabaseImpatient: Sentence(
        ja="保存場所で決められた時間のうちに終わらず、途中で止められました。もう一度お試しください。続くときはボットの管理者にお知らせください。",
        en="That took longer than the place where I keep things allows, and was ended. Please try again; if it goes on, tell the bot's operator.",
    ),
    errors.CommitUncertain: Sentence(
        ja="保存場所との接続が切れたため、保存できたかどうかわかりません。確かめてから、もう一度お試しください。",
        en="I lost the place where I keep things and can't tell whether that was saved. Please look, then try again.",
    ),
    errors.DatabaseForbidden: Sentence(
        ja="保存場所を使う権限が足りないため、保存できませんでした。ボットの管理者にお知らせください。",
        en="I am not allowed to use where I keep things, so I could not save that. Please tell the bot's operator.",
    ),
    errors.DatabaseReadOnly: _READ_ONLY,
    errors.DatabaseSetReadOnly: _READ_ONLY,
    errors.DatabaseDamaged: Sentence(
        ja="保存場所が壊れているため、いまはお答えできません。ボットの管理者にお知らせください。",
        en="The place where I keep things is damaged, so I can't answer now. Please tell the bot's operator.",
    ),
    errors.StartupError: Sentence(
        ja="起動できませんでした。設定を確かめてください。",
        en="cc-bot could not start. Please check its settings.",
    ),
    errors.InvalidSetting: Sentence(
        ja="設定 {name} の値が正しくありません。たとえば {expected} のように書いてください。",
        en="The setting {name} is not valid. Write it like this, for example: {expected}",
    ),
    errors.UnknownSetting: Sentence(
        ja="{name} という設定はありません。{nearest} ではありませんか。",
        en="There is no setting {name}. Did you mean {nearest}?",
    ),
    errors.ShardCountMissing: Sentence(
        ja="CC_BOT_SHARDS（--shards）を使うときは、CC_BOT_SHARD_COUNT（--shard-count）にシャードの総数も書いてください。",
        en="With CC_BOT_SHARDS (--shards), CC_BOT_SHARD_COUNT (--shard-count) must say how many shards there are in all.",
    ),
    errors.ShardsOutOfRange: Sentence(
        ja="シャードの番号は 0 から数えます。CC_BOT_SHARDS（--shards）は 0-{last} の範囲で書いてください。",
        en="Shards are numbered from 0. Write CC_BOT_SHARDS (--shards) within 0-{last}",
    ),
    errors.ShardsNotShared: Sentence(
        ja="SQLiteのファイルを使えるプロセスは一つだけなので、シャードを分けられません。"
        "PostgreSQLを使うか（docs/scaling.md）、CC_BOT_SHARDS（--shards）を 0-{last} にしてください。",
        en="One process alone can use an SQLite file, so there is nobody for the other shards. "
        "Use PostgreSQL (docs/scaling.md), or set CC_BOT_SHARDS (--shards) to 0-{last}",
    ),
    errors.PagesNotEncrypted: Sentence(
        ja="CC_BOT_WEB_HOST が {host} だと、ほかのマシンからもページが開けます。"
        "CC_BOT_WEB_URL に、https:// で始まるページのアドレスを書いてください。",
        en="With CC_BOT_WEB_HOST at {host}, other machines reach the pages. "
        "Set CC_BOT_WEB_URL to their address, which must begin with https://",
    ),
    errors.SettingsUnreadable: Sentence(
        ja="設定ファイル {path} を読めません。読み取りの権限を確かめるか、別のフォルダで実行してください。",
        en="The settings in {path} can't be read. Check the permission, or run this in another folder.",
    ),
    errors.InvalidAgents: Sentence(
        ja="エージェントの設定ファイル {path} を読めません。{detail}",
        en="The file of agents {path} can't be read. {detail}",
    ),
    errors.InvalidModels: Sentence(
        ja="モデルの設定ファイル {path} を使えません。{detail}",
        en="The file of model servers {path} can't be used. {detail}",
    ),
    errors.InvalidToolServers: Sentence(
        ja="ツールのサーバーの設定ファイル {path} を読めません。{detail}",
        en="The file of servers with tools {path} can't be read. {detail}",
    ),
    errors.InvalidPolicy: Sentence(
        ja="設定ファイル {path} を読めません。{detail}", en="The file {path} can't be read. {detail}"
    ),
    errors.MissingToken: Sentence(
        ja="DISCORD_TOKEN が設定されていません。.env に DISCORD_TOKEN=… と書くか、トークンなしで試すには cc-bot chat を使ってください。",
        en="DISCORD_TOKEN is not set. Put DISCORD_TOKEN=… into .env, or try cc-bot without a token: cc-bot chat",
    ),
    errors.RefusedToken: Sentence(
        ja="DISCORD_TOKEN が Discord に受け付けられませんでした。Developer Portal でトークンを確かめて、設定し直してください。",
        en="Discord did not accept DISCORD_TOKEN. Check the token in the Developer Portal and set it again.",
    ),
    errors.DiscordUnreachable: Sentence(
        ja="Discord につながりませんでした。ネットワークと DISCORD_API_URL を確かめて、もう一度起動してください。",
        en="Discord can't be reached. Check the network and DISCORD_API_URL, then start again.",
    ),
    errors.MessageContentRefused: Sentence(
        ja="Discord が、すべてのメッセージを読むことを認めませんでした。Developer Portal の Bot で Message Content Intent を有効にするか、CC_BOT_CHANNELS=mentions にして、起動し直してください。",
        en="Discord does not let this bot read all messages. Switch the Message Content Intent on in the Developer Portal under Bot, or set CC_BOT_CHANNELS=mentions, then start again.",
    ),
    errors.CommandsNotRegistered: Sentence(
        ja="コマンドを登録できなかったので、起動をやめました（{detail}）。",
        en="The commands could not be registered, so cc-bot did not start ({detail}).",
    ),
    errors.AlreadyRunning: Sentence(
        ja="別の cc-bot が {path} を使っています。そちらを止めてから起動してください。",
        en="Another cc-bot is using {path}. Stop that one first.",
    ),
    errors.ShardsTaken: Sentence(
        ja="{host} で動いている cc-bot が、同じデータベースでシャード {theirs} を受け持っています。ここで起動しようとしたのは {ours} です（* はすべて）。そちらを止めるか、重ならない --shards と同じ --shard-count を指定してください。",
        en="A cc-bot on {host} holds shards {theirs} on the same database; this one was to hold {ours} (* is all). Stop that one first, or give other --shards and the same --shard-count.",
    ),
    errors.DatabaseFolderMissing: Sentence(
        ja="データベースのフォルダ {path} がありません。作成するか、{setting} を直してください。",
        en="The database folder {path} does not exist. Create it or correct {setting}.",
    ),
    errors.DatabaseInUse: Sentence(
        ja="{path} を開いているプログラムがあります（cc-bot chat や Litestream など）。すべて止めてから、もう一度実行してください。",
        en="Some program has {path} open (cc-bot chat, or Litestream). Stop all of them, then run this again.",
    ),
    errors.DatabaseMissing: Sentence(
        ja="データベース {path} がありません。CC_BOT_DATABASE_URL を確かめてください。",
        en="There is no database at {path}. Check CC_BOT_DATABASE_URL.",
    ),
    errors.DatabaseUnusable: Sentence(
        ja="データベース {path} を開けません。ファイルの中身と読み書きの権限を確かめてください。壊れているときは cc-bot restore でバックアップから戻せます。",
        en="The database {path} can't be opened. Check the file and the permission to read and write it. If it is damaged, cc-bot restore puts a backup in its place.",
    ),
    errors.DatabaseNewer: Sentence(
        ja="データベース {path} は新しい cc-bot のものです（版 {found}、この cc-bot は {known} まで）。cc-bot を更新してください。",
        en="The database {path} was written by a newer cc-bot (version {found}; this one knows {known}). Update cc-bot.",
    ),
    errors.DatabaseNotOurs: Sentence(
        ja="{path} は cc-bot のデータベースに見えないので、手を付けませんでした。CC_BOT_DATABASE_URL を確かめてください。壊れているだけで消してよければ、{command} を実行してください。",
        en="{path} does not look like a database of cc-bot, so it was left alone. Check CC_BOT_DATABASE_URL; if it is only damaged and may go, run: {command}",
    ),
    errors.SchemaChanged: Sentence(
        ja="データベース {path} の {name} がないか、cc-bot の作る形と違うため、起動をやめました。ご自分で加えたものなら取り除くか名前を変え、覚えがなければ cc-bot restore でバックアップから戻してください。",
        en="In the database {path} the {name} is missing or not as cc-bot makes it, so cc-bot did not start. Remove or rename it if you added it; if you did not, put a backup in its place with cc-bot restore.",
    ),
    errors.UpgradeFailed: Sentence(
        ja="データベース {path} を版 {version} に更新できませんでした。cc-bot が書いたものではない値があるようです。データベースは元のままです。cc-bot restore でバックアップから戻すか、開発者にお知らせください。",
        en="The database {path} can't be brought to version {version}: something in it was not written by cc-bot. It is as it was. Put a backup in its place with cc-bot restore, or report this.",
    ),
    errors.PostgresTooOld: Sentence(
        ja="PostgreSQL {found} は古すぎます（{needed} 以上が必要です）。サーバーを新しくしてください。",
        en="PostgreSQL {found} is too old ({needed} or newer is needed). Upgrade the server.",
    ),
    errors.PostgresNotUtf8: Sentence(
        ja="データベース {url} の文字コードは {found} なので、日本語を保存できません。createdb --encoding=UTF8 --template=template0 で作り直してください。",
        en="The database {url} keeps its texts as {found}, which can't hold Japanese. Make it anew: createdb --encoding=UTF8 --template=template0",
    ),
    errors.PostgresRefused: Sentence(
        ja="{url} に接続できません。{setting} のユーザー名、パスワード、データベース名を確かめてください（{reason}）。",
        en="{url} does not let cc-bot in. Check the user, the password and the database in {setting} ({reason}).",
    ),
    errors.NotAFile: Sentence(
        ja="cc-bot {command} は SQLite のファイルのためのコマンドです。PostgreSQL では、控えは pg_dump、復元は pg_restore のあとに cc-bot erasures apply、削除は dropdb で行ってください。",
        en="cc-bot {command} is for a file of SQLite. With PostgreSQL use pg_dump for copies, to go back to one pg_restore and then cc-bot erasures apply, and to delete all dropdb.",
    ),
    errors.EngineMissing: Sentence(
        ja="このデータベースには追加のパッケージが要ります。make {extra} を実行してください（pip なら cc-bot[{extra}]）。",
        en="This database needs one more package. Run: make {extra} (with pip: cc-bot[{extra}])",
    ),
    errors.SqliteTooOld: Sentence(
        ja="Python に付属の SQLite {found} は古すぎます（{needed} 以上が必要です）。Python を新しくしてください。",
        en="The SQLite {found} of this Python is too old ({needed} or newer is needed). Install a newer Python.",
    ),
    errors.ServerInUse: Sentence(
        ja="{path} を、ほかの cc-bot が使っています（別のマシンかもしれません）。すべて止めてから、もう一度実行してください。",
        en="Another cc-bot is working on {path}, maybe on another machine. Stop all of them, then run this again.",
    ),
    errors.SameDatabase: Sentence(
        ja="コピー元とコピー先が同じデータベースです。--from と --to を確かめてください。",
        en="This copies a database onto itself. Check --from and --to.",
    ),
    errors.CopySourceMissing: Sentence(
        ja="コピー元のデータベース {path} がありません。--from を確かめてください。",
        en="There is no database to copy at {path}. Check --from.",
    ),
    errors.CopySourceForbidden: Sentence(
        ja="コピー元 {path} の {name} を読む権限がありません。そのユーザーに GRANT pg_read_all_data を実行するか、所有者のユーザー名を --from に書いてください。",
        en="The role in {path} may not read {name}. GRANT pg_read_all_data to it, or name the owner with --from.",
    ),
    errors.CopySourceOutdated: Sentence(
        ja="コピー元 {path} の形式が最新ではありません。CC_BOT_DATABASE_URL にそれを書いて、先に cc-bot migrate を実行してください。",
        en="The schema of {path} is not up to date. Have CC_BOT_DATABASE_URL name it and run cc-bot migrate first.",
    ),
    errors.CopySourceBroken: Sentence(
        ja="コピー元 {path} の表 {name} に、つながる相手の行がないものが{count}行あるため、コピーしませんでした。手で書き換えたことがあれば直し、なければバックアップから戻したものをコピーしてください。",
        en="The table {name} of {path} has rows that refer to others which are not there ({count}), so nothing was copied. If you changed it by hand, mend them; if not, copy an earlier backup of it.",
    ),
    errors.CopyTargetOccupied: Sentence(
        ja="コピー先 {path} は空ではありません（表 {name} に行があります）。何も入っていないデータベースを --to に書いてください。",
        en="{path} is not empty: there are rows in its table {name}. Name a database in which nothing is stored, with --to.",
    ),
    errors.CopyOfAnother: Sentence(
        ja="コピー先 {path} には {url} からの途中のコピーがあります。--from {url} で続けるか、空のデータベースを --to に書いてください。",
        en="{path} holds an unfinished copy of {url}. Go on with that one by --from {url}, or name an empty database with --to.",
    ),
    errors.CopyUnfinished: Sentence(
        ja="データベース {path} は {url} からのコピーの途中です。同じ cc-bot copy をもう一度実行して、終わらせてください。",
        en="{path} is an unfinished copy of {url}. Run the same cc-bot copy again, so that it comes to its end.",
    ),
    errors.CopyStopped: Sentence(
        ja="コピーは途中で止まりました。直したあと同じコマンドを実行すると、続きから進みます。",
        en="The copy has stopped on its way. Once that is mended, run the same command again: it goes on from there.",
    ),
    errors.CopyUnreadable: Sentence(
        ja="コピー元 {path} の表 {name} に、ありえない値の行があります。CC_BOT_DATABASE_URL にそれを書いて cc-bot doctor で確かめてください。",
        en="A row in the table {name} of {path} holds a value that can't be. Have CC_BOT_DATABASE_URL name it and see what cc-bot doctor says.",
    ),
    errors.CopyDiffers: Sentence(
        ja="コピー先 {path} の表 {name} が、コピー元と一致しません。まだ使わずに、同じコマンドをもう一度実行してください。",
        en="The table {name} of {path} is not what the source has. Don't use it yet, and run the same command again.",
    ),
    errors.ErasuresNotFound: Sentence(
        ja="消去の記録 {path} がありません。場所を確かめてください。まだ何も消していません。",
        en="There is no record of erasures at {path}. Check the name; nothing has been erased yet.",
    ),
    errors.ErasuresBroken: Sentence(
        ja="消去の記録 {path} の{line}行目を読めません。読める記録を使ってください。まだ何も消していません。",
        en="Line {line} of the record of erasures {path} can't be read. Use a good copy of it; nothing has been erased yet.",
    ),
    errors.BackupFailed: Sentence(
        ja="バックアップを {path} に書き込めませんでした。空き容量と書き込みの権限を確かめてください。",
        en="The backup could not be written to {path}. Check the free space and the permission to write.",
    ),
    errors.NotEnoughRoom: Sentence(
        ja="{path} の空き容量が足りません（必要 {needed}、空き {free}）。空きを増やして、もう一度実行してください。",
        en="There is too little room at {path} ({needed} needed, {free} free). Make room and run it again.",
    ),
    errors.OldBackupsKept: Sentence(
        ja="{made} にバックアップしましたが、{path} の古いバックアップを消せませんでした。書き込みの権限を確かめてください。",
        en="Backed up to {made}, but old backups in {path} could not be deleted. Check the permission to write.",
    ),
    errors.OutputLost: Sentence(
        ja="結果を書き出せませんでした（{reason}）。出力先を確かめてください。",
        en="What there was to say could not be written ({reason}). Check where the output goes.",
    ),
    errors.BackupMissing: Sentence(
        ja="{path} というバックアップのファイルはありません。ファイルの名前を確かめてください。",
        en="There is no backup file {path}. Check the name of the file.",
    ),
    errors.BackupDamaged: Sentence(
        ja="バックアップ {path} は壊れているか、cc-bot のデータベースではありません。別のバックアップを選んでください。",
        en="The backup {path} is damaged, or no database of cc-bot. Choose another one.",
    ),
    errors.BackupUnfinished: Sentence(
        ja="バックアップ {path} は、cc-bot copy の途中だったデータベースのものなので、データがそろっていません。コピーを終わらせてから取り直すか、ほかのバックアップを使ってください。",
        en="The backup {path} is of a database that cc-bot copy had filled only in part. Run that copy to its end and back up again, or use another backup.",
    ),
    errors.BackupForeign: Sentence(
        ja="バックアップ {path} の {name} は、足りないか、cc-bot が作る形と違います。ファイルの出どころが確かなら、{command} で中のデータだけを戻せます。",
        en="In the backup {path}, {name} is missing or not as cc-bot makes it. If you know where the file comes from, restore its rows alone: {command}",
    ),
    errors.BackupChanged: Sentence(
        ja="バックアップ {path} の {name} は、足りないか、cc-bot が作る形と違います。別のバックアップを選んでください。",
        en="In the backup {path}, {name} is missing or not as cc-bot makes it. Choose another one.",
    ),
    errors.RestoreFailed: Sentence(
        ja="{path} に復元できませんでした。データベースは元のままです。空き容量と、バックアップを読む権限、書き込む権限を確かめてください。",
        en="Nothing could be restored to {path}; the database is as it was. Check the free space, and the permissions to read the backup and to write.",
    ),
    errors.ErasuresMissing: Sentence(
        ja="消去の記録 {path} がないため、消した人のデータまで戻ってしまうかもしれません。記録を元の場所に戻すか、それでもよければ --without-erasures を付けてください。",
        en="The record of erasures {path} is missing, so people who were forgotten might come back. Put it back, or add --without-erasures if that is all right.",
    ),
    errors.ErasuresUnreadable: Sentence(
        ja="消去の記録 {path} を読めないため、消した人のデータまで戻ってしまうかもしれません。読める記録に置きかえるか、それでもよければ --without-erasures を付けてください。",
        en="The record of erasures {path} can't be read, so people who were forgotten might come back. Put a good copy in its place, or add --without-erasures if that is all right.",
    ),
    errors.ErasuresCut: Sentence(
        ja="消去の記録が足りません。{path} かそのあとのバックアップを作ったときより少なく、消した人のデータが戻るおそれがあります。{name} をバックアップの隣に戻すか、それでもよければ --without-erasures を付けてください。",
        en="The record of erasures is not whole: it has less than was known when {path} or a later backup was made, so people who were forgotten might come back. Put {name} back beside the backup, or add --without-erasures if that is all right.",
    ),
    errors.ErasuresThinned: Sentence(
        ja="バックアップ {path} は、消去の記録がさかのぼれる {since} より古いものです。消した人のデータまで戻ってしまうかもしれません。それでもよければ --without-erasures を付けてください。",
        en="The backup {path} is older than the record of erasures goes back ({since}), so people who were forgotten might come back. Add --without-erasures if that is all right.",
    ),
    errors.NotConfirmed: Sentence(
        ja="取り消せない操作なので、実行していません。よければ {command} と入力してください。",
        en="Nothing was done, because it can't be undone. If you mean it, run: {command}",
    ),
    errors.PageError: Sentence(
        ja="ページを読めませんでした。少し待って、もう一度お試しください。",
        en="The page could not be read. Please try again in a little while.",
    ),
    errors.AddressRefused: Sentence(
        ja="この URL は開けません。開けるのは2,000文字までの http と https の URL だけで、空白やユーザー名、80 と 443 以外のポートを含むものは開けません。",
        en="This address can't be opened: only http and https can, of 2,000 characters at most, without spaces or a user name, on ports 80 and 443.",
    ),
    errors.AddressNotGiven: Sentence(
        ja="この URL は開けません。開けるのは、ユーザーのメッセージか、その返信先・転送元、この質問での検索結果にある URL だけです。読みたいときは、ユーザーに URL をはじめ（https）から貼ってもらってください。",
        en="This address can't be opened: only those can that stand in the user's messages, in what they reply to or forwarded, or in this turn's search results. To have it read, ask the user to paste all of it, from https on.",
    ),
    errors.AddressNotPublic: Sentence(
        ja="{host} は開けません。インターネットに公開されていない、内部のネットワークの場所です。",
        en="{host} can't be opened: it is inside a network, and not public on the internet.",
    ),
    errors.PageUnreachable: Sentence(
        ja="{host} に接続できませんでした。URL が正しいか、確かめてください。",
        en="{host} could not be reached. Check whether the address is right.",
    ),
    errors.PageGarbled: Sentence(
        ja="{host} につながりましたが、サーバーの返事を読み取れませんでした。あとでもう一度お試しください。",
        en="{host} was reached, but the server's answer could not be read. Please try again later.",
    ),
    errors.PageTooSlow: Sentence(
        ja="{host} から {seconds} 秒のうちにページが届きませんでした。あとでもう一度お試しください。",
        en="{host} did not send the page within {seconds} seconds. Please try again later.",
    ),
    errors.PageNotThere: Sentence(
        ja="{host} はこのページを返しませんでした（HTTP {found}）。ログインが要るページや、なくなったページは読めません。",
        en="{host} did not give this page (HTTP {found}). Pages that need signing in, or are gone, can't be read.",
    ),
    errors.PageNotNow: Sentence(
        ja="{host} は、いまこのページを返せないようです（HTTP {found}）。あとでもう一度お試しください。",
        en="{host} can't give this page at the moment (HTTP {found}). Please try again later.",
    ),
    errors.TooManyRedirects: Sentence(
        ja="このページは {limit} 回を超えて別の URL に転送されるので、読むのをやめました。",
        en="This page sends on to others more than {limit} times, so it was not read.",
    ),
    errors.PageTooLarge: Sentence(
        ja="このページは {limit} MB を超えているので、読めません。",
        en="This page has more than {limit} MB, so it can't be read.",
    ),
    errors.PageKindRefused: Sentence(
        ja="このリンクの先は、ページでも PDF などの文書でもないので、読めません。ファイルなら、ここに添付すると読めることがあります。",
        en="Only pages and documents such as PDFs can be read, and this link leads to neither. If it is a file, attaching it here may help.",
    ),
    errors.PagePackingRefused: Sentence(
        ja="このページは、対応していない方式で圧縮されているので、読めません。",
        en="This page is compressed in a way that can't be read here.",
    ),
    errors.PageUnreadable: Sentence(
        ja="このページには、読める文章が見つかりませんでした。",
        en="No readable text was found on this page.",
    ),
    errors.PageTooLong: Sentence(
        ja="このページは大きすぎるか、いま混み合っていて、時間内に読みきれませんでした。",
        en="This page could not be read in time: it is too large, or too much is going on right now.",
    ),
    errors.PagesWait: Sentence(
        ja="ほかのページを読んでいて時間がかかり、このページを読む番が来ませんでした。少し待って、もう一度お試しください。",
        en="It took too long: other pages are being read, and this one's turn did not come. Please try again in a moment.",
    ),
    errors.PagesNotInstalled: Sentence(
        ja="このボットは、まだウェブページを読めません。管理者が make pages で入れると、読めるようになります。",
        en="This bot can't read web pages yet. Its operator can add that with make pages.",
    ),
    errors.PagesOfDocumentsNotInstalled: Sentence(
        ja="リンクの先は PDF か Excel で、このボットはまだ読めません。管理者が make documents で入れると、読めるようになります。",
        en="This link leads to a PDF or Excel file, which this bot can't read yet. Its operator can add that with make documents.",
    ),
    errors.PagesNotConfined: Sentence(
        ja="このボットが動いているシステムではウェブページを安全に読めないため、開きませんでした。管理者に伝えてください。",
        en="This page was not opened: the system that this bot runs on can't read it safely. Please tell the bot's operator.",
    ),
    errors.SearchFailed: Sentence(
        ja="いまウェブ検索を使えません。検索せずに、わかる範囲で答えてください。",
        en="Web search does not work at the moment. Answer without it, as far as you can.",
    ),
    errors.SearchFormatOff: Sentence(
        ja="検索サーバーが JSON での回答を許していないため、検索できません。管理者に知らせてください。",
        en="The search server does not let programs search (JSON is off). Please tell the bot's operator.",
    ),
    errors.PortTaken: Sentence(
        ja="{host}:{port} は別のプログラムが使っています。{setting} を変えて、起動し直してください。",
        en="Another program listens on {host}:{port}. Change {setting}, then start again.",
    ),
}


class ErrorTexts(Area):
    of = by_key(SENTENCES)
    """By its class: a subclass does not have its parent's."""
    tell_operator = Sentence(ja="ボットの管理者にお知らせください", en="tell the bot's operator")
    """A phrase in the sentences above, for readers who are not the operator."""
