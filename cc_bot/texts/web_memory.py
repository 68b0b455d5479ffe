"""The words of the pages on memories. What Discord says as well stands in memory.py."""

from cc_bot.texts.area import Area, Sentence


class WebMemoryTexts(Area):
    # ---- looking through them
    search = Sentence(ja="言葉で探す", en="Search")
    filters = Sentence(ja="しぼり込む", en="Narrow down")
    find = Sentence(ja="表示する", en="Show")
    any = Sentence(ja="すべて", en="all")
    origin = Sentence(ja="きっかけ", en="How it came about")
    order = Sentence(ja="並び順", en="Order")
    newest_first = Sentence(ja="新しい順", en="newest first")
    tag = Sentence(ja="タグ", en="Tag")
    found = Sentence(ja="{count}件あります。", en="{count} memories")
    found_one = Sentence(ja="1件あります。", en="1 memory")
    found_none = Sentence(ja="0件です。", en="no memories")
    found_most = Sentence(ja="合うものが多いので、近いものから{count}件だけを出しています。言葉を足すか、しぼり込むと、ほかのものも見つかります。", en="More than {count} memories fit, so these are the {count} that fit best. Add a word or narrow down to find others.")
    """Where there are more than a search shows."""
    nothing_fits = Sentence(ja="この条件に合うメモリはありません。", en="No memory fits what you are looking for.")
    show_all = Sentence(ja="条件を外す", en="Show all")
    counted = Sentence(ja="{name}（{count}件）", en="{name} ({count})")
    choose = Sentence(ja="#{id} を選ぶ", en="Choose #{id}")
    """What a checkbox is called for those who hear it."""
    pinned = Sentence(ja="ピン留め", en="pinned")
    private = Sentence(ja="DM と、自分だけに見える回答でだけ使います", en="Used only in DMs and in answers that you alone see")

    private_only = Sentence(ja="DM と、自分だけに見える回答", en="DMs and private answers")
    until = Sentence(ja="{date} まで", en="until {date}")
    expired = Sentence(ja="期限切れ", en="expired")
    none = Sentence(ja="メモリはまだありません。ここで追加するか、会話の中で「〜を覚えておいて」と頼むと、ここに並びます。", en="There are no memories yet. Add one here, or say “remember that …” in a conversation.")

    # ---- adding
    add = Sentence(ja="メモリを追加する", en="Add a memory")
    save = Sentence(ja="覚える", en="Remember it")
    end = Sentence(ja="期限", en="Last day it holds")
    end_hint = Sentence(ja="「{example}」のように書けます。なければ空欄にしてください。", en="Such as: {example}. Leave it empty if there is none.")

    # ---- one of them
    edit = Sentence(ja="編集する", en="Edit")
    save_changes = Sentence(ja="保存する", en="Save")
    earlier = Sentence(ja="前の内容", en="What it said before")
    no_earlier = Sentence(ja="編集すると、その前の内容がここに残ります。", en="Once you edit it, what it said before stays here.")
    restore = Sentence(ja="この内容に戻す", en="Go back to this")
    restore_of = Sentence(ja="{time} の内容に戻す", en="Go back to what it said on {time}")
    undo_edit = Sentence(ja="最後の変更を取り消す", en="Undo the last change")
    made = Sentence(ja="覚えた日時", en="Remembered")
    changed = Sentence(ja="変更した日時", en="Changed")
    message = Sentence(ja="元のメッセージを見る", en="See the message")
    pin = Sentence(ja="ピン留めする", en="Pin")
    unpin = Sentence(ja="ピンを外す", en="Unpin")
    delete = Sentence(ja="削除する", en="Delete")
    erase = Sentence(ja="完全に消す…", en="Erase for good…")
    to_list = Sentence(ja="メモリの一覧へ", en="To all memories")
    deleted = Sentence(ja="このメモリは削除しました。", en="This memory is deleted.")
    conflict = Sentence(ja="編集しているあいだに、このメモリが変わりました。まだ何も保存していません。両方を見くらべて、残すほうを選んでください。", en="This memory changed while you were editing it. Nothing is saved yet. Compare the two and choose what to keep.")
    now_says = Sentence(ja="今の内容", en="What it says now")
    keep_now = Sentence(ja="今の内容のままにする", en="Keep what it says now")
    yours = Sentence(ja="あなたが入力した内容", en="What you entered")
    save_yours = Sentence(ja="この内容で保存する", en="Save this instead")

    # ---- erasing
    erase_title = Sentence(ja="完全に消す", en="Erase for good")
    erase_question = Sentence(ja="次のメモリを、前の内容もふくめて完全に消します。元には戻せません。", en="These memories are erased for good, with all that they said before. This can't be undone.")
    erase_told = Sentence(
        ja="会話の中で話したことは記録に残ります。「会話の記録からも消す」を選ぶと、この内容にふれた発言や回答、その要約、キャンバスに描いたものも消え、そこで話したことはもう思い出せません。",
        en="What was said in conversations stays. “Erase from conversations too” also removes the messages that touch on it, their summaries and what was drawn from them on canvases; then I no longer know what was said there.",
    )
    best_first = Sentence(ja="検索中は、近いものから並びます。", en="A search lists what fits best first.")
    erase_all = Sentence(ja="すべてのメモリを完全に消す…", en="Erase all memories for good…")
    erase_all_question = Sentence(ja="メモリ {count}件をすべて、前の内容や削除したばかりのものもふくめて、完全に消します。元には戻せません。", en="All your memories ({count}) are erased for good, with all that they said before and what was just deleted. This can't be undone.")
    erase_copy_first = Sentence(ja="控えが要るときは、先に書き出してください。", en="For a copy, export them first.")
    erased_title = Sentence(ja="完全に消しました", en="Erased for good")
    erased = Sentence(ja="もう元には戻せません。", en="This can't be undone.")
    erased_none = Sentence(ja="もうなかったもの: {numbers}", en="Not there any more: {numbers}")

    # ---- several at once
    several = Sentence(ja="選んだメモリ", en="The memories you chose")
    chosen_before = Sentence(ja="ほかの検索で選んだもの", en="Chosen in other searches")
    with_chosen = Sentence(ja="選んだものを", en="With those chosen:")
    new_category = Sentence(ja="新しいカテゴリ", en="New category")
    change_category = Sentence(ja="カテゴリを変える", en="Change the category")
    undo_all = Sentence(ja="削除したものを元に戻す", en="Undo the deletions")
    there = Sentence(ja="あるもの: {count}件", en="There: {count}")
    hidden = Sentence(ja="削除したもの: {count}件", en="Deleted: {count}")
    gone = Sentence(ja="もうないもの: {count}件", en="Not there any more: {count}")
    not_done = Sentence(ja="できなかったもの: {count}件", en="Not done: {count}")
    state_hidden = Sentence(ja="削除ずみ（{until} まで元に戻せます）", en="deleted (can be undone until {until})")
    state_gone = Sentence(ja="もうありません", en="not there any more")
    state_not_done = Sentence(ja="できませんでした。{why}", en="Not done. {why}")

    # ---- files and pausing
    files = Sentence(ja="書き出し・取り込み・一時停止", en="Export, import and pause")
    export_json = Sentence(ja="書き出す（JSON）", en="Export (JSON)")
    export_readable = Sentence(ja="書き出す（読むための Markdown）", en="Export (Markdown, for reading)")
    export_hint = Sentence(ja="何件あっても、1つのファイルになります。取り込めるのは1回に 1 MB までなので、大きなファイルは分けて取り込んでください。", en="One file, however many there are. An import takes 1 MB at a time; split a larger file for it.")
    export_name = Sentence(ja="メモリ-{day}", en="memories-{day}")
    """The name of a file, without its ending."""
    import_ = Sentence(ja="ファイルから取り込む…", en="Import from a file…")
    import_title = Sentence(ja="メモリを取り込む", en="Import memories")
    import_hint = Sentence(
        ja="書き出した JSON、ChatGPT などのメモリの一覧、1行に1件のテキストを読めます（1 MB・{limit}件まで）。保存する前に、何が入るかを見られます。",
        en="It reads exported JSON, lists from ChatGPT and the like, and texts with one memory a line (up to 1 MB and {limit} of them). You see what would come in before anything is kept.",
    )
    file = Sentence(ja="ファイル", en="File")
    import_audience = Sentence(ja="使う場所が書かれていないものは", en="Those that don't say where they are used")
    look = Sentence(ja="内容を確かめる", en="Look at it first")
    preview = Sentence(ja="取り込む前の確認", en="Before anything is imported")
    import_not_yet = Sentence(ja="まだ何も保存していません。", en="Nothing is saved yet.")
    import_new = Sentence(ja="新しく覚える: {count}件", en="New: {count}")
    import_some = Sentence(ja="はじめの{count}件", en="The first {count}")
    other_file = Sentence(ja="別のファイルを選ぶ", en="Choose another file")
    is_paused = Sentence(ja="一時停止中です。新しく覚えることも、回答に使うこともしません。", en="Memory is paused: nothing new is kept, and nothing is used in answers.")
    pause = Sentence(ja="一時停止する", en="Pause")
    pause_hint = Sentence(ja="一時停止すると、再開するまで、新しく覚えることも、回答に使うこともしません。今あるメモリはそのまま残ります。", en="While paused, nothing new is kept and nothing is used in answers. What is there stays.")
    resume = Sentence(ja="再開する", en="Resume")
