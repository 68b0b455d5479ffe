from cc_bot.texts.area import Area, Both, Sentence
from cc_bot.texts.commands import CommandTexts


class CanvasTexts(Area):
    of_user = Sentence(ja="🖼️ {user} さんのキャンバス", en="🖼️ {user}'s canvas")
    own = Sentence(ja="🖼️ あなたのキャンバス", en="🖼️ Your canvas")
    private_marked = Sentence(ja="🔒 のついたものは、あなただけに見えています。", en="Only you can see what is marked 🔒.")
    others = Sentence(ja="ほかに: {titles}", en="Also up: {titles}")
    cut = Sentence(ja="長いため一部を省いています。全文は添付のファイルにあります。", en="Some of it is too long to show. The attached file has all of it.")
    cut_for_good = Sentence(ja="長いため一部を省いています。", en="Some of it is too long to show.")
    file_name = Sentence(ja="キャンバス.md", en="canvas.md")
    empty = Sentence(ja="キャンバスには何も出ていません。</ask> で「買うものをキャンバスに出して」のように頼んでみてください。", en="Nothing is on the canvas. Ask for it with </ask>, like “put my shopping list on the canvas”.")
    shown = Sentence(ja="🖼️ キャンバスを下に出しました。", en="🖼️ The canvas is below.")
    shown_with_private = Sentence(ja="🖼️ キャンバスを下に出しました。あなただけに見えるものは、ここに出します。", en="🖼️ The canvas is below. What only you can see is here.")
    shown_private = Sentence(ja="🖼️ キャンバスに出ているものは、あなただけに見えます。", en="🖼️ Only you can see what is on the canvas.")
    shown_to_you = Sentence(ja="🖼️ いまはこのチャンネルに送れないため、あなただけに見える形で出します。", en="🖼️ I can't post in this channel at the moment, so only you can see this.")
    cleared = Sentence(ja="🧹 キャンバスを空にしました。会話の内容はそのままです。", en="🧹 The canvas is empty now. Our conversation stays as it is.")
    cleared_already = Sentence(ja="キャンバスにはもう何も出ていません。", en="There is nothing on the canvas any more.")


class CanvasCommandTexts(CommandTexts):
    canvas = Both(ja=("キャンバス", "ボットが出しておくカード・文章・グラフ"), en=("canvas", "Cards, texts and charts that the bot keeps up for you"))
    canvas_show = Both(ja=("表示", "キャンバスを会話のいちばん下に出し直します"), en=("show", "Put the canvas at the bottom of the conversation again"))
    canvas_clear = Both(ja=("空にする", "キャンバスに出ているものをすべて下げます"), en=("clear", "Take everything on the canvas down"))
