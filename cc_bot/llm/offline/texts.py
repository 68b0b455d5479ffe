"""What the offline model says. These are a model's words and not the program's, so they live with it."""

from dataclasses import dataclass

from cc_bot.domain.locale import Locale
from cc_bot.texts.commands import plainly
from cc_bot.texts.naming import named


@dataclass(frozen=True, slots=True)
class OfflineTexts:
    introduction: str
    proposed: str
    """Of what waits for its user's word."""
    replacement_proposed: str
    """After `remembered`."""
    remembered: str
    """Parameter: fact."""
    replaced: str
    """Parameter: fact."""
    not_remembered: str
    """Parameter: error."""
    cannot_keep: str
    what_to_remember: str
    what_is_it: str
    """Parameter: thing."""
    value: str
    """Parameter: value."""
    from_memory: str
    """Parameter: fact."""
    from_conversation: str
    """Parameter: fact."""
    near: str
    """Parameter: fact."""
    unknown: str
    unknown_lookup_failed: str
    """Parameter: error."""
    known: str
    """Parameter: facts."""
    nothing_known: str
    you_said: str
    """Parameter: text."""
    you_said_first: str
    """Parameter: text."""
    i_said: str
    """Parameter: text."""
    both_said: str
    """Parameters: user, assistant."""
    nothing_said: str
    noted: str
    """Parameter: fact."""
    how_to_keep: str
    """Said once in a conversation, after `noted`."""
    noted_temporary: str
    """Parameter: fact."""
    greeting: str
    thanks: str
    about_me: str
    forget: str
    """Where it has no tool for that."""
    forgotten: str
    """Parameter: fact."""
    not_forgotten: str
    """Parameter: error."""
    forget_what: str
    forget_which: str
    """Parameter: facts."""
    forget_everything: str
    nothing_to_forget: str
    nothing_to_continue: str
    files: str
    drawn: str
    canvas_cleared: str
    not_drawn: str
    """Parameter: error."""
    cannot_draw: str
    what_to_draw: str
    chart_how: str
    chart_title: str
    canvas_is_where: str
    scheduled: str
    not_scheduled: str
    """Parameter: error."""
    unscheduled: str
    cannot_remind: str
    remind_when: str
    time_is_up: str
    """What to remind of, where nothing is named."""
    wake_up: str
    reminders: str
    """Parameter: reminders."""
    no_reminders: str
    cancel_which: str
    """Parameter: reminders."""


_JA = OfflineTexts(
    introduction=(
        "ℹ️ APIキーが設定されていないため、オフラインの簡易モデルがお答えしています。"
        "覚えること、思い出すこと、この会話を振り返ることはできますが、それ以外の知識はありません。"
        "AIモデルを使うには、.env に OPENAI_API_KEY を設定してください"
        "（手元のサーバーなら OPENAI_BASE_URL を設定します）。"
    ),
    proposed="まだ実行していません。下の提案を確かめて、どうするか選んでください。",
    replacement_proposed="前のメモと入れ替えるかどうかは、下の提案で選んでください。",
    remembered="承知しました。「{fact}」を覚えました。",
    replaced="承知しました。前のメモを書き換えて「{fact}」を覚えました。",
    not_remembered="覚えられませんでした。{error}",
    cannot_keep=(
        "この質問では何も保存できないため、覚えておくことができません。ふつうの質問でもう一度お伝えください。"
    ),
    what_to_remember="何を覚えましょうか。覚えてほしいことを、続けて書いてください。",
    what_is_it="「{thing}」について、覚える内容も書いてください。",
    value="{value}ですね。",
    from_memory="「{fact}」と覚えています。",
    from_conversation="「{fact}」とうかがいました。",
    near="ぴったりの答えではありませんが、「{fact}」とうかがっています。",
    unknown=(
        "すみません、それは分かりません。オフラインのモデルなので、教えていただいたことだけをお答えできます。"
    ),
    unknown_lookup_failed="会話には見つからず、メモリも調べられませんでした。{error}",
    known="うかがっているのは次のことです。\n{facts}",
    nothing_known="まだ何もうかがっていません。「〜を覚えて」と書いていただければ覚えます。",
    you_said="「{text}」とおっしゃいました。",
    you_said_first="この会話で覚えている最初の言葉は「{text}」です。",
    i_said="私は「{text}」とお答えしました。",
    both_said="あなたは「{user}」、私は「{assistant}」と言いました。",
    nothing_said="この会話では、まだ何も話していません。",
    noted="「{fact}」ですね。この会話の間は覚えています。",
    how_to_keep="ずっと残すには「それを覚えて」と書いてください。",
    noted_temporary="「{fact}」ですね。一時的な質問なので、保存はされません。",
    greeting="こんにちは。覚えてほしいことや、以前に教えていただいたことへの質問をどうぞ。",
    thanks="どういたしまして。",
    about_me=(
        "私は cc-bot のオフラインの簡易モデルです。"
        "「〜を覚えて」で覚え、あとで質問していただければ思い出します。"
        "この会話で話したこともお答えできます。"
        "「買うもの：牛乳、卵をキャンバスに出して」のように書けば、キャンバスに出します。"
        "「明日9時に薬って知らせて」のように書けば、その時刻にお知らせします。"
    ),
    forget="私からは消せません。</memory delete> を使うと、選んだメモリを消せます。",
    forgotten="「{fact}」を忘れました。",
    not_forgotten="忘れられませんでした。{error}",
    forget_what="何を忘れましょうか。「〜のことを忘れて」のように書いてください。",
    forget_which="いくつか見つかりました。忘れるものを「#番号を忘れて」で選んでください。\n{facts}",
    forget_everything="すべてを消すには </memory delete-all> を使ってください。確認してから消します。",
    nothing_to_forget="それについてのメモリは見つかりませんでした。",
    nothing_to_continue="前の返事はあれで終わりで、続きはありません。",
    files="画像や添付ファイルは読めません。内容を文字で書いていただければお答えします。",
    drawn="キャンバスに出しました。",
    canvas_cleared="キャンバスを空にしました。",
    not_drawn="キャンバスに出せませんでした。{error}",
    cannot_draw="ここではキャンバスを使えません。ふつうの質問でもう一度お伝えください。",
    what_to_draw="何をキャンバスに出しましょうか。「買うもの：（内容）をキャンバスに出して」のように書いてください。",
    chart_how=(
        "グラフにする数を書いてください。"
        "「支出：家賃 78000、食費 42000 を円グラフでキャンバスに出して」のように、名前と数を並べます。"
    ),
    chart_title="グラフ",
    canvas_is_where="キャンバスに出ているものは </canvas show> で見られます。",
    scheduled="お知らせを予約しました。",
    not_scheduled="お知らせを変えられませんでした。{error}",
    unscheduled="お知らせを取り消しました。",
    cannot_remind="ここではお知らせを予約できません。ふつうの質問でもう一度お伝えください。",
    remind_when="いつお知らせしましょうか。「明日9時に薬って知らせて」のように書いてください。",
    time_is_up="時間です",
    wake_up="起きる時間です",
    reminders="予約したお知らせはこちらです。\n{reminders}",
    no_reminders="予約したお知らせはありません。",
    cancel_which="どれを取り消しましょうか。「#番号のお知らせを取り消して」で選んでください。\n{reminders}",
)

_EN = OfflineTexts(
    introduction=(
        "ℹ️ No API key is set, so this is the small offline model answering. It can remember, recall and look "
        "back on this conversation, and knows nothing else. For an AI model, set OPENAI_API_KEY in .env "
        "(or OPENAI_BASE_URL for a local server)."
    ),
    proposed="Nothing is changed yet. Look at the proposal below, and choose.",
    replacement_proposed=" Whether it replaces the older note is for you to choose below.",
    remembered="All right. I remembered: “{fact}”",
    replaced="All right. I replaced the older note and remembered: “{fact}”",
    not_remembered="I could not remember that. {error}",
    cannot_keep=(
        "Nothing can be kept from this question, so I can't remember that. "
        "Please tell me again in an ordinary one."
    ),
    what_to_remember="What should I remember? Please write it together with the request.",
    what_is_it="Please tell me what to remember about “{thing}”.",
    value="{value}.",
    from_memory="I remember: “{fact}”",
    from_conversation="You told me: “{fact}”",
    near="This may not be exactly what you asked for, but you told me: “{fact}”",
    unknown=("Sorry, I don't know that. As an offline model I only know what you have told me."),
    unknown_lookup_failed=(
        "It is not in this conversation, and I could not look through your memories. {error}"
    ),
    known="This is what you told me:\n{facts}",
    nothing_known="You have not told me anything yet. Say “remember that …” and I will.",
    you_said="You said: “{text}”",
    you_said_first="The first thing I have from you here is: “{text}”",
    i_said="I said: “{text}”",
    both_said="You said: “{user}”\nI said: “{assistant}”",
    nothing_said="Nothing has been said in this conversation yet.",
    noted="Noted for this conversation: “{fact}”",
    how_to_keep="\nTo have it kept for good, say “remember that”.",
    noted_temporary="Noted: “{fact}”\nThis is a temporary question, so it is not kept.",
    greeting="Hello! Tell me something to remember, or ask me about something you told me before.",
    thanks="You're welcome.",
    about_me=(
        "I'm cc-bot's small offline model. Say “remember that …” and I keep it; "
        "ask me later and I look it up. I can also tell what was said in this conversation, "
        "put things on the canvas: “put shopping list: milk, eggs on the canvas”, "
        "and remind you: “remind me to call mom tomorrow at 9”."
    ),
    forget="I can't delete that myself. Use </memory delete> to remove a memory.",
    forgotten="I forgot: “{fact}”",
    not_forgotten="I could not forget that. {error}",
    forget_what="What should I forget? Write it like this: “forget my address”.",
    forget_which="I found several. Choose one with “forget #number”:\n{facts}",
    forget_everything="To delete everything use </memory delete-all>, which asks you first.",
    nothing_to_forget="I found no memory about that.",
    nothing_to_continue="My last answer was complete; there is nothing to add.",
    files="I can't read images or attached files. Describe them in words and I can go on from there.",
    drawn="It is on the canvas now.",
    canvas_cleared="The canvas is empty now.",
    not_drawn="I could not put that on the canvas. {error}",
    cannot_draw="There is no canvas here. Please ask again in an ordinary question.",
    what_to_draw="What should I put there? Write it like this: “put shopping list: … on the canvas”.",
    chart_how=(
        "Which numbers? Write them with their names: “put a pie chart of rent 780, food 420 on the canvas”."
    ),
    chart_title="Chart",
    canvas_is_where="</canvas show> shows what is on the canvas.",
    scheduled="The reminder is set.",
    not_scheduled="That did not work. {error}",
    unscheduled="The reminder is cancelled.",
    cannot_remind="I can't set reminders here. Please ask again in an ordinary question.",
    remind_when="When should I remind you? Write it like this: “remind me to call mom tomorrow at 9”.",
    time_is_up="It's time",
    wake_up="Time to wake up",
    reminders="These are your reminders.\n{reminders}",
    no_reminders="You have no reminders.",
    cancel_which="Which one? Choose it with “cancel the #number reminder”.\n{reminders}",
)

JA, EN = named(_JA, plainly(Locale.JA)), named(_EN, plainly(Locale.EN))
