"""The words of the memory pages in a browser."""

from cc_bot.texts.area import Area, Sentence


class WebMemoryTexts(Area):
    search = Sentence(ja="メモリを探す", en="Search memories")
    find = Sentence(ja="探す", en="Search")
    narrow = Sentence(ja="絞り込む", en="Filter")
    all_categories = Sentence(ja="すべてのカテゴリ", en="All categories")
    all_tags = Sentence(ja="すべてのタグ", en="All tags")
    all_audiences = Sentence(ja="使う場所すべて", en="Used anywhere or in private")
    all_origins = Sentence(ja="覚えたきっかけすべて", en="However they came about")
    everything = Sentence(ja="すべて表示する", en="Show all")
    kept = Sentence(ja="{count}件あります。", en="There are {count}.")
    found = Sentence(ja="{count}件見つかりました。", en="{count} found.")
    none = Sentence(
        ja="まだ何も覚えていません。下の欄に書くか、Discord で「〜を覚えておいて」と話しかけてください。",
        en="Nothing is kept yet. Write something below, or say “remember that …” on Discord.",
    )
    no_match = Sentence(
        ja="見つかりませんでした。言葉を変えるか、絞り込みを外してみてください。",
        en="Nothing was found. Try other words, or fewer filters.",
    )
    newer = Sentence(ja="新しいほうへ", en="Newer")
    older = Sentence(ja="古いほうへ", en="Older")
    choose = Sentence(ja="#{number} を選ぶ", en="Choose #{number}")
    chosen = Sentence(ja="選んだものを", en="Those chosen")
    delete = Sentence(ja="削除する", en="Delete")
    erase = Sentence(ja="完全に消す", en="Erase for good")
    erase_hint = Sentence(
        ja="完全に消したものは元に戻せません。会話の記録には残ることがあります。",
        en="What is erased can't be had back. Stored conversations may still tell of it.",
    )
    file = Sentence(ja="カテゴリを変える", en="Change the category")
    new_category = Sentence(ja="新しいカテゴリ", en="New category")
    add = Sentence(ja="新しく覚える", en="Keep something new")
    save_new = Sentence(ja="覚える", en="Keep it")
    save = Sentence(ja="保存する", en="Save")
    more = Sentence(ja="まとめて扱う", en="All of them")
    export = Sentence(
        ja="ファイルに書き出す（取り込み直せる JSON）", en="Download (JSON, can be imported again)"
    )
    export_readable = Sentence(
        ja="読むためのファイルに書き出す（Markdown）", en="Download to read (Markdown)"
    )
    import_file = Sentence(ja="ファイルから取り込む", en="Import from a file")
    import_hint = Sentence(
        ja="書き出した JSON のほか、Markdown の箇条書きや、1行に1つ書いたテキストを取り込めます（1 MB まで）。",
        en="A JSON export, a Markdown list, or a text with one note a line (1 MB at most).",
    )
    import_choose = Sentence(ja="ファイル", en="File")
    import_look = Sentence(ja="何が取り込まれるか見る", en="See what would be imported")
    paused = Sentence(
        ja="メモリは止まっています。新しく覚えず、思い出しもしません。",
        en="Memory is paused: nothing new is kept, and nothing is recalled.",
    )
    pause = Sentence(ja="メモリを止める", en="Pause memory")
    resume = Sentence(ja="メモリを再開する", en="Resume memory")
    edit = Sentence(ja="書き直す", en="Change it")
    back = Sentence(ja="メモリの一覧へ", en="All memories")
    kept_at = Sentence(ja="覚えた日: {date}", en="Kept: {date}")
    changed_at = Sentence(ja="変更した日: {date}", en="Changed: {date}")
    restore = Sentence(ja="この内容に戻す", en="Go back to this")
    conflict = Sentence(
        ja="書いている間に、このメモリが変わりました。まだ何も変えていません。両方を見て、残したい内容にしてから保存してください。",
        en="This memory changed while you were writing. Nothing was saved. Look at both, make it what you want to keep, and save.",
    )
    as_it_is = Sentence(ja="今の内容", en="What it says now")
    leave = Sentence(ja="今の内容のままにする", en="Leave it as it is now")
    erase_title = Sentence(ja="#{number} を完全に消す", en="Erase #{number} for good")
    erase_several = Sentence(ja="{count}件を完全に消す", en="Erase {count} for good")
    erase_covers = Sentence(
        ja="このメモリと、前の内容、検索のための控えが消えます。元には戻せません。",
        en="The memory goes, with what it said before and what it is found by. It can't be had back.",
    )
    erase_told = Sentence(
        ja="会話の記録の {count}件の発言にも、この内容が残っています。",
        en="{count} messages of stored conversations tell of it as well.",
    )
    erase_said = Sentence(ja="会話の記録からも消す", en="Erase it from those too")
    erase_yes = Sentence(ja="完全に消す", en="Erase for good")
    erased_title = Sentence(ja="消しました", en="Erased")
    several = Sentence(ja="{count}件できました。", en="Done: {count}.")
    several_left = Sentence(ja="{count}件は、もうありませんでした。", en="{count} were not there any more.")
