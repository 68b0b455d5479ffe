"""Names and descriptions of commands, by lightbulb's localization keys. Discord's limits are 1-32 characters
for names (lower case, no spaces, except in menus) and 1-100 for descriptions."""

from collections import deque
from collections.abc import Iterator, Mapping
from functools import cache

from cc_bot.domain.text import Locale
from cc_bot.features import modules
from cc_bot.texts.area import Area, Both, NameCommand, Sentence, name_commands


class CommandTexts(Area, is_base=True):
    """Each feature has a subclass in its `texts`."""


class CoreCommandTexts(CommandTexts):
    ask = Both(ja=("質問", "質問に答えます。このチャンネルでの前の会話も踏まえます。"), en=("ask", "Ask a question. I know what we said before in this channel."))
    ask_question = Both(ja=("内容", "聞きたいこと"), en=("question", "What you would like to know"))
    ask_attachment = Both(ja=("添付", "質問に関わる画像・テキスト・文書（PDF・Word・Excelなど）"), en=("attachment", "An image, a text or a document (PDF, Word, Excel …) that the question is about"))
    ask_attachment2 = Both(ja=("添付2", "2つ目のファイル"), en=("attachment2", "A second file"))
    ask_attachment3 = Both(ja=("添付3", "3つ目のファイル"), en=("attachment3", "A third file"))
    ask_attachment4 = Both(ja=("添付4", "4つ目のファイル"), en=("attachment4", "A fourth file"))
    ask_attachment5 = Both(ja=("添付5", "5つ目のファイル"), en=("attachment5", "A fifth file"))
    ask_private = Both(ja=("自分だけ", "回答を自分だけに表示します（会話には残ります）"), en=("private", "Show the answer only to you (it is stored)"))
    ask_temporary = Both(ja=("保存しない", "回答を自分だけに表示し、何も保存しません"), en=("temporary", "Show the answer only to you and store nothing"))
    remember_this = Sentence(ja="これを覚える", en="Remember this")
    ask_about_this = Sentence(ja="これについて聞く", en="Ask about this")
    translate_this = Sentence(ja="翻訳する", en="Translate")
    summarise_from_here = Sentence(ja="ここから要約する", en="Summarise from here")
    clear = Both(ja=("クリア", "このチャンネルでの会話をまっさらにします（メモリは残ります）"), en=("clear", "Start this channel's conversation afresh (memories stay)"))
    help_command = Both(ja=("コマンド", "くわしく知りたいコマンド"), en=("command", "A command to read about"))
    reset = Both(ja=("リセット", "みんなとの会話をここで区切ります（これより前に書かれたことは、もう読みません）"), en=("reset", "Restart everyone's conversation here: I no longer read what was written before"))
    summary = Both(ja=("要約", "このチャンネルでの会話の要約を見ます。消すこともできます"), en=("summary", "Show or delete the summary of our conversation in this channel"))


def _wordings(locale: Locale) -> Iterator[tuple[str, str]]:
    """Yield names, and descriptions at `{key}_description`."""
    for area in CommandTexts.__subclasses__():
        for key, wording in area(locale).values().items():
            match wording:
                case str():
                    yield key, wording
                case Mapping():  # choices
                    prefix = key.removesuffix("_choices")
                    for value, name in wording.items():
                        yield f"{prefix}_{value}_choice", f"{name[0].upper()}{name[1:]}"
                case _:
                    yield from zip((key, f"{key}_description"), wording, strict=True)


@cache
def _all_wordings(locale: Locale) -> Mapping[str, str]:
    deque(modules("texts"), 0)  # importing them makes the subclasses
    return dict(_wordings(locale))


def command_names(locale: Locale) -> dict[str, str]:
    return dict(name_commands(_all_wordings(locale), command_namer(locale)))


def command_namer(locale: Locale) -> NameCommand:
    """Return a function that names commands: `/memory add`, `/メモリ 追加`."""

    def name_command(command: str) -> str:
        wordings = _all_wordings(locale)
        words = command.split()
        keys = ("_".join(words[: count + 1]).replace("-", "_") for count in range(len(words)))
        return f"/{' '.join(wordings.get(key, word) for key, word in zip(keys, words, strict=True))}"

    return name_command
