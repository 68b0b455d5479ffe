from cc_bot.texts.area import Area, Both, Sentence, by_key
from cc_bot.texts.commands import CommandTexts
from cc_bot.texts.proposal import Choice


class CanvasTexts(Area):
    user_canvas = Sentence(ja="🖼️ {user} さんのキャンバス", en="🖼️ {user}'s canvas")
    your_canvas = Sentence(ja="🖼️ あなたのキャンバス", en="🖼️ Your canvas")
    lock_meaning = Sentence(ja="🔒 のついたものは、あなただけに見えています。", en="Only you can see what is marked 🔒.")
    other_elements = Sentence(ja="ほかに: {titles}", en="Also on the canvas: {titles}")
    texts_cut_and_attached = Sentence(ja="長いため一部を省いています。全文は添付のファイルにあります。", en="Some of it is too long to show. The attached file has all of it.")
    texts_cut = Sentence(ja="長いため一部を省いています。", en="Some of it is too long to show.")
    file_name = Sentence(ja="キャンバス.md", en="canvas.md")
    empty = Sentence(ja="キャンバスは空です。「買うものをキャンバスに出して: 牛乳、卵」のように頼めます。", en="The canvas is empty. Try “put a shopping list on the canvas: milk, eggs”.")
    shown = Sentence(ja="🖼️ キャンバスを下に出しました。", en="🖼️ The canvas is below.")
    shown_with_private = Sentence(ja="🖼️ キャンバスを下に出しました。あなただけに見えるものは、ここに出します。", en="🖼️ The canvas is below. What only you can see is here.")
    shown_private = Sentence(ja="🖼️ キャンバスに出ているものは、あなただけに見えます。", en="🖼️ Only you can see what is on the canvas.")
    shown_to_you = Sentence(ja="🖼️ いまはこのチャンネルに送れないため、あなただけに見える形で出します。", en="🖼️ I can't post in this channel at the moment, so only you can see this.")
    shown_of_agent = Sentence(ja="🖼️ この回答をしたエージェントのキャンバスです。あなただけに見えます。", en="🖼️ The canvas of the agent that answered. Only you can see this.")
    cleared = Sentence(ja="🧹 キャンバスを空にしました。会話の内容はそのままです。", en="🧹 The canvas is empty now. Our conversation stays as it is.")
    cleared_already = Sentence(ja="キャンバスにはもう何も出ていません。", en="The canvas is already empty.")


class CanvasProposalTexts(Area):
    draw = Both(ja=Choice("🖼️ キャンバスを変える", "キャンバスを変える", "変えない"), en=Choice("🖼️ Change the canvas", "Change the canvas", "Leave it"))
    draw_card = Sentence(ja="カードを出す: {title}", en="Add a card: {title}")
    draw_text = Sentence(ja="文章を出す", en="Add a text")
    draw_titled_text = Sentence(ja="文章を出す: {title}", en="Add a text: {title}")
    draw_chart = by_key({"line": Sentence(ja="折れ線グラフを出す: {title}", en="Add a line chart: {title}"), "bar": Sentence(ja="棒グラフを出す: {title}", en="Add a bar chart: {title}"), "stacked": Sentence(ja="積み上げ棒グラフを出す: {title}", en="Add a stacked bar chart: {title}"), "area": Sentence(ja="面グラフを出す: {title}", en="Add an area chart: {title}"), "scatter": Sentence(ja="散布図を出す: {title}", en="Add a scatter chart: {title}"), "pie": Sentence(ja="円グラフを出す: {title}", en="Add a pie chart: {title}")})
    draw_update = Sentence(ja="「{title}」を書き換える", en="Change “{title}”")
    draw_remove = Sentence(ja="「{title}」を下ろす", en="Remove “{title}”")
    layout = by_key({"list": Sentence(ja="縦に並べる", en="Show everything as a list"), "board": Sentence(ja="横に並べる", en="Show cards side by side"), "focus": Sentence(ja="「{title}」だけを大きく出す", en="Show “{title}” alone")})
    draw_clear = Sentence(ja="すべて下ろす", en="Remove everything")


class CanvasPageTexts(Area):
    canvas = Sentence(ja="キャンバス", en="Canvas")
    numbers = Sentence(ja="数値を見る", en="See the numbers")
    other_channels = Sentence(ja="ほかのチャンネル", en="Other channels")
    nothing_up = Sentence(ja="何も出ていません", en="empty")
    count = Sentence(ja="{count}枚", en="{count:item|items}")
    more = Sentence(ja="ほか{count}枚", en="+{count} more")
    changed = Sentence(ja="変更: {time}", en="changed {time}")
    download = Sentence(ja="画像で保存", en="Save as a picture")
    question = Sentence(ja="「{question}」", en="“{question}”")
    canvas_empty = Sentence(ja="まだ何も出ていません。Discord で「買うものをキャンバスに出して」のように頼むと、ここに出ます。", en='Nothing is on the canvas yet. Ask on Discord, like "put my shopping list on the canvas", and it appears here.')
    current_agent = Sentence(ja="答えるエージェント", en="Who answers here")
    use_agent = Sentence(ja="切り替える", en="Switch")
    hide_private = Sentence(ja="自分だけのものを隠す", en="Hide what only I can see")
    private = Sentence(ja="自分だけに見えます", en="Only you can see this")
    remove_element = Sentence(ja="「{title}」をキャンバスから外す", en="Take “{title}” off the canvas")
    untitled = Sentence(ja="無題", en="untitled")
    clear_canvas = Sentence(ja="キャンバスを空にする", en="Empty the canvas")
    clear_question = Sentence(ja="出ているものをすべて外します。会話の内容はそのままです。", en="This removes everything from the canvas. The chat stays as it is.")
    clear_yes = Sentence(ja="すべて外す", en="Remove everything")
    other_elements = Sentence(ja="ほかに出ているもの", en="Also on the canvas")
    connecting = Sentence(ja="つないでいます…", en="Connecting…")
    live = Sentence(ja="変更はすぐ届きます", en="Changes appear at once")
    reconnecting = Sentence(ja="ボットに届きません。つなぎ直しています…", en="The bot can't be reached. Reconnecting…")
    closed_signed_out = Sentence(ja="サインアウトしました。", en="You are signed out.")
    closed_denied = Sentence(ja="いまは使えないため、表示を終えました。", en="You can't use the bot at the moment.")
    closed_too_many_open = Sentence(ja="開いているタブが多いため止まりました。再読み込みで続きます。", en="Too many tabs are open, so this one stopped. Reload it to go on.")  # close reasons of a socket have at most 123 bytes


class CanvasCommandTexts(CommandTexts):
    canvas = Both(ja=("キャンバス", "ボットが出しておくカード・文章・グラフ"), en=("canvas", "Cards, texts and charts that the bot keeps in view for you"))
    canvas_show = Both(ja=("表示", "キャンバスを会話のいちばん下に出し直します"), en=("show", "Put the canvas at the bottom of the conversation again"))
    canvas_clear = Both(ja=("空にする", "キャンバスに出ているものをすべて下げます"), en=("clear", "Remove everything from the canvas"))
