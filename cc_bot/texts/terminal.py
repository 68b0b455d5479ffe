"""The terminal chat: its commands, its hints, and what stands around an answer there."""

from collections.abc import Mapping
from typing import Final

from cc_bot.texts.area import Area, Sentence, by_key

JAPANESE_NAMES: Final[Mapping[str, str]] = {"regenerate": "答え直す", "continue": "続ける", "attach": "添付", "detach": "添付取り消し", "accept": "実行", "decline": "見送る", "memory undo": "メモリ 元に戻す", "memory restore": "メモリ 復元", "summary delete": "要約 削除", "exit": "終了"}
"""Names of what the terminal alone has; those of everything else are Discord's."""


class TerminalTexts(Area):
    commands = by_key(
        {
            "ask": Sentence(ja="質問します。/ask なしで書いても同じです。--temporary は何も保存しません", en="ask; text without /ask is the same. --temporary stores nothing"),
            "regenerate": Sentence(ja="最新の質問に、もう一度答えます", en="answer the newest question again"),
            "continue": Sentence(ja="回答の続きを書きます", en="go on with the answer"),
            "attach": Sentence(ja="次の質問に画像・テキスト・文書を添付します", en="attach an image, a text or a document to the next question"),
            "detach": Sentence(ja="添付を取り消します", en="take back what is attached"),
            "accept": Sentence(ja="提案を実行します。番号なしなら、確認待ちのものを見せます", en="have a proposal done; without a number, see what waits"),
            "decline": Sentence(ja="提案を実行しないことにします", en="drop a proposal"),
            "memory list": Sentence(ja="メモリを新しい順に一覧します", en="list memories, newest first"),
            "memory search": Sentence(ja="メモリを探します", en="find memories"),
            "memory add": Sentence(ja="覚えてほしいことを保存します。「〜を覚えておいて」でも大丈夫です", en="keep something; saying “remember that …” works too"),
            "memory show": Sentence(ja="メモリを1件くわしく見ます。前の内容も分かります", en="show all of a memory, and what it said before"),
            "memory edit": Sentence(ja="メモリを書き直します。--until - で期限をなくします", en="change a memory; --until - takes its end away"),
            "memory pin": Sentence(ja="ピン留めします（10件まで）。--off で外します", en="pin a memory (up to ten); --off takes the pin off"),
            "memory undo": Sentence(ja="削除（10分以内）か、最後の変更を取り消します", en="undo a deletion (for ten minutes), or the newest change"),
            "memory restore": Sentence(ja="前の内容に戻します。何番目があるかは show で分かります", en="go back to what it said before; show tells which there are"),
            "memory delete": Sentence(ja="メモリを消します。--now はすぐ完全に消します", en="delete a memory; --now erases it at once"),
            "memory delete-all": Sentence(ja="すべて完全に消します。件数を書くと実行します", en="erase all for good; the count confirms it"),
            "memory export": Sentence(ja="すべて書き出します。.md なら読みやすい形にします", en="write all to a file; .md makes it easy to read"),
            "memory import": Sentence(ja="取り込みます。--now なしでは確認だけします", en="take memories over; without --now only tell"),
            "memory pause": Sentence(ja="メモリを一時停止します", en="keep and use no memories"),
            "memory resume": Sentence(ja="メモリを再開します", en="keep and use memories again"),
            "memory stats": Sentence(ja="メモリを数字で見ます", en="memories in numbers"),
            "clear": Sentence(ja="会話をまっさらにします（メモリは残ります）", en="start the conversation afresh (memories stay)"),
            "summary": Sentence(ja="会話の要約を見ます。delete で消します", en="show what was written down of the conversation, or delete it"),
            "canvas": Sentence(ja="キャンバスを見ます。clear で空にします", en="show the canvas; clear takes everything down"),
            "agent list": Sentence(ja="だれが答えるか（エージェント）を一覧します", en="list who can answer (agents)"),
            "agent use": Sentence(ja="答えるエージェントを替えます。default で元に戻します", en="have another agent answer; default goes back"),
            "remind list": Sentence(ja="予約したお知らせを一覧します", en="list your reminders"),
            "remind add": Sentence(ja="このチャットでお知らせします（毎朝8時 も可）", en="be reminded then, in this chat"),
            "remind delete": Sentence(ja="番号のお知らせを取り消します", en="cancel the reminder with this number"),
            "usage": Sentence(ja="使ったトークンと、残りを見ます", en="show the tokens you used, and what is left"),
            "privacy show": Sentence(ja="あなたについて保存しているものを見ます", en="show what is stored about you"),
            "privacy export": Sentence(ja="保存しているもののすべてを JSON で書き出します", en="write all that is stored to a file (JSON)"),
            "privacy erase": Sentence(ja="すべて消します。--now なしでは確認だけします", en="erase all that is stored; without --now only ask"),
            "settings": Sentence(ja="言語とタイムゾーンを決めます。default で既定に戻します", en="choose language and time zone; default goes back to the default"),
            "admin tools": Sentence(ja="ツールのサーバーを見ます。名前を書くと、その中身を見ます。accept で承認します", en="show the servers with tools, or the words of one; accept lets them be used"),
            "help": Sentence(ja="この一覧を見ます", en="show this list"),
            "exit": Sentence(ja="終わります", en="leave"),
        }
    )
    """What `/help` and the completion menu say of each, in their order there, by its English name."""
    arguments = by_key(
        {
            "category": Sentence(ja="カテゴリ", en="category"),
            "category name": Sentence(ja="名前", en="name"),
            "content": Sentence(ja="内容", en="content"),
            "count": Sentence(ja="件数", en="count"),
            "date": Sentence(ja="日付", en="date"),
            "file": Sentence(ja="ファイル", en="file"),
            "name": Sentence(ja="名前", en="name"),
            "names": Sentence(ja="名前,名前", en="name,name"),
            "number": Sentence(ja="番号", en="number"),
            "question": Sentence(ja="質問", en="question"),
            "reminder": Sentence(ja="明日9時 薬を飲む", en="tomorrow at 9 take the pills"),
            "reminder number": Sentence(ja="3", en="3"),
            "settings": Sentence(ja="[language ja|en] [timezone Asia/Tokyo]", en="[language ja|en] [timezone Europe/London]"),
            "tools": Sentence(ja="サーバー | accept サーバー コード", en="server | accept server code"),
            "which": Sentence(ja="何番目", en="which"),
            "words": Sentence(ja="言葉", en="words"),
        }
    )
    """What stands in a usage for something that is to be typed."""
    no_key = Sentence(ja="💡 .env に OPENAI_API_KEY=sk-… と書くと、AIモデルが答えます（手元のサーバーなら OPENAI_BASE_URL）。", en="💡 Put OPENAI_API_KEY=sk-… into .env to have an AI model answer (OPENAI_BASE_URL for a server of your own).")
    greeting = Sentence(ja="cc-bot（{model}）。聞きたいことを書いて Enter を押してください。/help で一覧、Ctrl-D で終わります。", en="cc-bot ({model}). Write a question and press Enter. /help lists the commands, Ctrl-D leaves.")
    goodbye = Sentence(ja="またどうぞ。", en="See you.")
    help_title = Sentence(ja="できること", en="What I can do")
    help_keys = Sentence(
        ja="Enter で送信、Alt+Enter で改行、↑ で前の入力、Tab で補完します。全角の／で始めると、日本語の候補が出ます。Ctrl-C は回答を止めるか入力を消し、Ctrl-D で終わります。",
        en="Enter sends, Alt+Enter starts a new line, ↑ brings back what you entered, Tab completes. After a full-width ／ it offers Japanese names. Ctrl-C stops the answer or clears the line, Ctrl-D leaves.",
    )
    help_names = Sentence(ja="コマンドは、{example} のように日本語の名前でも入力できます。", en="Commands have Japanese names, too, such as {example}.")
    """Parameter: example, a command's Japanese name."""
    help_stored = Sentence(ja="会話とメモリは、このボットが動いている機械に保存されます。", en="Conversations and memories are kept on the machine that this bot runs on.")
    send = Sentence(ja="送信", en="send")
    new_line = Sentence(ja="改行", en="new line")
    leave = Sentence(ja="終了", en="leave")
    interrupt = Sentence(ja="Ctrl-C で止める", en="Ctrl-C stops")
    tool_memories = Sentence(ja="メモリを扱いました", en="Saw to your memories")
    """Of this and the two below: what was done stands in a line of its own, or is proposed."""
    tool_canvas = Sentence(ja="キャンバスを扱いました", en="Saw to the canvas")
    tool_reminders = Sentence(ja="お知らせの予約を扱いました", en="Saw to the reminders")
    tool_recall = Sentence(ja="メモリを探しました", en="Looked through your memories")
    tool_list = Sentence(ja="メモリを見ました", en="Looked at your memories")
    tool_page = Sentence(ja="ページを読みました", en="Read the page")
    tool_search = Sentence(ja="ウェブで調べました", en="Searched the web")
    tool_other = Sentence(ja="{name} を使いました", en="Used {name}")
    tool_failed = Sentence(ja="{name} はうまくいきませんでした", en="{name} did not work")
    cut = Sentence(ja="✂️ 回答が途中で切れました。/continue で続きを書きます。", en="✂️ The answer broke off. /continue writes the rest.")
    unknown = Sentence(ja="{given} というコマンドはありません。/help で一覧を見られます。/ で始まる質問は /ask に続けて書いてください。", en="There is no command {given}. /help lists them; to ask something that begins with /, put /ask before it.")
    unknown_near = Sentence(ja="{given} というコマンドはありません。{nearest} のことですか？", en="There is no command {given}. Did you mean {nearest}?")
    memory_needs_more = Sentence(ja="/memory のあとに list、search、add、show などを続けてください。/help で一覧を見られます。", en="Put list, search, add, show or the like after /memory. /help lists them.")
    misused = Sentence(ja="「{given}」はここでは使えません。使い方: {usage}", en="“{given}” can't be used here. Usage: {usage}")
    no_answer_yet = Sentence(ja="まだ回答がありません。先に何か聞いてください。", en="There is no answer yet. Ask something first.")
    model_not_found = Sentence(ja="AIモデル「{model}」が見つかりません。CC_BOT_MODEL と OPENAI_BASE_URL を確かめてください。", en="There is no AI model “{model}”. Check CC_BOT_MODEL and OPENAI_BASE_URL.")
    model_unreachable = Sentence(ja="AIモデルのサーバー {host} につながりません。サーバーが動いているか、OPENAI_BASE_URL（models.toml なら base_url）が正しいかを確かめてください。", en="The AI model's server at {host} can't be reached. Check that it runs, and OPENAI_BASE_URL (or base_url in models.toml).")
    model_refused_key = Sentence(ja="AIモデルのサーバーがAPIキーを受け付けません。OPENAI_API_KEY（models.toml なら api_key）と、その残高や権限を確かめてください。", en="The AI model's server does not accept the API key. Check OPENAI_API_KEY (or api_key in models.toml), its credit and its rights.")
    model_refused_request = Sentence(ja="AIモデルがこの質問を受け付けませんでした。言い方を変えるか、cc-bot doctor で CC_BOT_MODEL の設定を確かめてください。", en="The AI model did not accept this question. Put it another way, or check CC_BOT_MODEL with cc-bot doctor.")
    ask_doctor = Sentence(ja="cc-bot doctor で原因を確かめてください", en="run cc-bot doctor to see why")
    """Instead of `errors.tell_operator`: who reads it is the operator."""
    not_heard = Sentence(ja="🎤 {names} は聞き取れませんでした。", en="🎤 I couldn't hear {names}.")
    servers_starting = Sentence(ja="ツールのサーバーにつないでいます…（10秒まで）", en="Connecting to servers with tools… (10 seconds at most)")
    images_given = Sentence(ja="🖼️ ツールが画像を {count} 枚返しました。ここでは表示できません。", en="🖼️ A tool gave {count} picture(s), which can't be shown here.")
    """Parameter: count."""
    attached = Sentence(ja="📎 {name} を次の質問に添付します。取り消すときは /detach です。", en="📎 {name} goes with your next question. /detach takes it back.")
    detached = Sentence(ja="添付を取り消しました。", en="Nothing is attached any more.")
    nothing_attached = Sentence(ja="添付はありません。", en="Nothing is attached.")
    path_needed = Sentence(ja="添付するファイルを指定してください。例: /attach メモ.txt", en="Name the file to attach, for example: /attach notes.txt")
    file_not_found = Sentence(ja="ファイル {path} が見つかりません。場所と名前を確かめてください。", en="There is no file {path}. Check the folder and the name.")
    file_not_read = Sentence(ja="ファイル {path} を読めません。ファイルかどうかと、読み取りの権限を確かめてください。", en="The file {path} can't be read. Check that it is a file and that you may read it.")
    memory_number = Sentence(ja="番号", en="No.")
    memory_text = Sentence(ja="内容", en="Text")
    memory_date = Sentence(ja="日付", en="Date")
    older_memories = Sentence(ja="これより古いメモリは {command} で見られます。", en="{command} shows older ones.")
    how_to_undo = Sentence(ja="10分以内なら {command} で元に戻せます。", en="{command} undoes this for ten minutes.")
    nothing_to_undo = Sentence(ja="#{id} に取り消せる変更はありません。前の内容は /memory show で見られます。", en="There is no change of #{id} to undo. /memory show tells what it said before.")
    how_to_restore = Sentence(ja="/memory restore {id} 1 のように、何番目かを書くと、その内容に戻せます。", en="/memory restore {id} 1 (or another of these) goes back to it.")
    delete_all = Sentence(ja="メモリ {count}件をすべて、完全に消します。元には戻せません。よければ {command} と入力してください。", en="All {count} memories will be erased for good. To do it, enter {command}")
    exported = Sentence(ja="📤 メモリ {count}件を {path} に書き出しました。", en="📤 {count} memories are in {path} now.")
    file_exists = Sentence(ja="ファイル {path} がもうあります。別の名前を付けてください。", en="There is a file {path} already. Please choose another name.")
    file_not_written = Sentence(ja="ファイル {path} に書き込めません。フォルダと、書き込みの権限を確かめてください。", en="The file {path} can't be written. Check the folder and your permission to write there.")
    import_now = Sentence(ja="まだ何も保存していません。取り込むには {command} と入力してください。", en="Nothing is saved yet. To import this, enter {command}")
    memory_file_needed = Sentence(ja="取り込むファイルを指定してください。例: /memory import memories.json", en="Name the file to import, for example: /memory import memories.json")
    agent_needed = Sentence(ja="どのエージェントに替えるかを書いてください。一覧は /agent list で見られます。", en="Name the agent that is to answer. /agent list shows them.")
    proposal = Sentence(ja="提案 #{id}: {what}", en="Proposal #{id}: {what}")
    in_zone = Sentence(ja="（{zone} の時刻）", en=" ({zone} time)")
    """After a time that does not count where its user is."""
    how_to_decide = Sentence(ja="実行するなら /accept {id}、しないなら /decline {id}", en="To have it done, enter /accept {id}; if not, /decline {id}")
    """Parameter: id, of the proposal."""
    no_proposals = Sentence(ja="確認待ちの提案はありません。", en="Nothing waits for your decision.")
    which_proposal = Sentence(ja="どれにするか、番号を付けて入力してください。", en="Please enter the one you mean with its number.")
    """Where several wait."""
    proposal_needed = Sentence(ja="提案の番号を書いてください。たとえば /accept 3 です。/accept だけなら、確認待ちのものを見られます。", en="Give the number of the proposal, for example: /accept 3. /accept alone shows those that wait.")
