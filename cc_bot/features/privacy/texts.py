"""The data stored about a user, for how long, and what erasing covers."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, Literal

from cc_bot.domain.message import FILE_QUOTA
from cc_bot.domain.text import Count
from cc_bot.features.memory.model import ErasureCounts
from cc_bot.features.privacy.model import NOT_ERASED, DataKind, Holdings, Retention
from cc_bot.texts.area import Area, Both, Sentence, by_key
from cc_bot.texts.commands import CommandTexts

_Group = Literal["talks", "memory", "open", "other"]
_GROUPS: Final[Mapping[_Group, Sequence[Sequence[DataKind]]]] = {
    "talks": (("conversations", "messages"), ("channel_messages", "channel_answers"), ("files",), ("summaries",)),
    "memory": (("memories",), ("schedules",), ("deliveries",)),
    "open": (("proposals",), ("receipts",), ("turns",)),
    "other": (("usage",), ("counts",), ("settings",), ("choices",), ("decisions",), ("sign_ins",), ("rules",)),
}
_FAMILIAR: Final[Sequence[DataKind]] = ("conversations", "messages", "channel_messages", "files", "memories", "schedules")


class PrivacyTexts(Area):
    title = Sentence(ja="🔒 あなたについて保存しているもの", en="🔒 What is stored about you")
    nothing = Sentence(ja="あなたについて保存しているものは、何もありません。", en="Nothing is stored about you.")
    kinds: Both[Mapping[DataKind, str]] = by_key(
        {
            "conversations": Sentence(ja="会話", en="conversations"),
            "messages": Sentence(ja="質問と回答", en="messages"),
            "channel_messages": Sentence(ja="チャンネルでの発言", en="your channel messages"),
            "channel_answers": Sentence(ja="その回答", en="answers"),
            "files": Sentence(ja="添付ファイル", en="attachments"),
            "summaries": Sentence(ja="会話の要約", en="summaries of conversations"),
            "memories": Sentence(ja="メモリ（以前の内容をふくむ）", en="memories and former versions"),
            "schedules": Sentence(ja="お知らせの予定", en="reminders and heartbeats"),
            "deliveries": Sentence(ja="お知らせを送った記録", en="records of reminders sent"),
            "proposals": Sentence(ja="確認待ちの提案", en="proposals to decide on"),
            "receipts": Sentence(ja="「取り消す」の付いた回答", en="messages with an Undo button"),
            "turns": Sentence(ja="回答の途中の質問", en="questions being answered"),
            "usage": Sentence(ja="使った量の記録", en="records of usage"),
            "counts": Sentence(ja="消す前に使ったトークンの数（今月の上限のため）", en="tokens you used before erasing (for this month's limit)"),
            "settings": Sentence(ja="設定", en="settings"),
            "choices": Sentence(ja="選んだエージェントとキャンバス", en="agents you chose, canvas positions"),
            "decisions": Sentence(ja="あなたが変えたサーバーの設定", en="server settings you changed"),
            "sign_ins": Sentence(ja="サインイン（未使用のリンクをふくむ）", en="sign-ins of browsers, unused links included"),
            "rules": Sentence(ja="あなたへの利用制限", en="limits set for you"),
        }
    )
    groups: Both[Mapping[_Group, str]] = by_key({"talks": Sentence(ja="話したこと", en="What we talked about"), "memory": Sentence(ja="メモリとお知らせ", en="Memories and reminders"), "open": Sentence(ja="途中のもの・取り消せるもの", en="Open or undoable"), "other": Sentence(ja="使った量と設定", en="Usage and settings")})
    retention_title = Sentence(ja="保存する期間", en="How long")
    archive_days = Sentence(ja="発言と回答は {days}日で消えます（続いている会話に見えているものは残ります）。", en="Messages are deleted after {days} days, except those that an open conversation still uses.")
    session_days = Sentence(ja="終わった会話は {days}日で消えます。", en="Ended conversations are deleted after {days} days.")
    usage_days = Sentence(ja="使った量の記録は {days}日で消えます。", en="Records of usage are deleted after {days} days.")
    copy_days = Sentence(ja="更新前の控えは {days}日で消えます。", en="Copies made before an upgrade or a restore are deleted after {days} days.")
    kept_until_erased = Sentence(ja="そのほかは、消すまで残ります。", en="Everything else stays until you delete it.")
    files = Sentence(ja="添付ファイルは、履歴から外れると消えます。", en="Attachments are deleted when they leave the history of their conversation.")
    files_used = Sentence(ja="添付ファイル（{used} / {quota} MB）は、会話の履歴から外れるか、いっぱいになると、古いものから消えます。", en="Attachments ({used} of {quota} MB) are deleted when they leave the history of their conversation, and the oldest when the space is full.")
    backups = Sentence(ja="バックアップは、管理者が捨てるまで残ります。", en="Backups keep a copy until the operator deletes them.")
    exported = Sentence(ja="📦 あなたについて保存しているもののすべてです（JSON）。人に見せないようにしてください。", en="📦 Everything that is stored about you (JSON). Best kept to yourself.")
    exported_parts = Sentence(ja="{parts}個のファイルに分かれています。", en="It comes in {parts} files.")
    cut_short = Sentence(ja="{sent}個までしか送れませんでした。サーバーの中でもう一度お試しになるか、ボットの管理者にお知らせください。", en="Only {sent} files could be sent. Please try again in a server, or tell the bot's operator.")
    question = Sentence(ja="あなたのデータをすべて消しますか？", en="Erase everything that is stored about you?")
    for_good = Sentence(ja="元には戻せません。", en="This can't be undone.")
    covers = Sentence(ja="ブラウザはすべてサインアウトします。", en="All browsers are signed out.")
    goes = Sentence(ja="消えるもの", en="Will be erased")
    remains = Sentence(ja="残るもの", en="Will stay")
    stays = Both(
        ja=("Discord 上のメッセージ", "ツールの接続先に渡した内容", "ほかの人の発言や記録", "サーバー全体の使用量", "上限のある今月のトークン数", "管理者が決めた利用制限"),
        en=("messages on Discord itself", "what tools sent to other services", "what others wrote or stored", "the total usage of each server", "this month's tokens, if limited", "limits set for you by the operator"),
    )
    copies_of_file = Sentence(ja="バックアップと控え（復元してもまた消します）", en="backups and copies (erased again if restored)")
    copies_on_server = Sentence(
        ja="データベースのサーバーに残る跡（消した行はサーバーが片づけるまでファイルに、変更の記録はその保管の期限まで、予備のサーバーには追いつくまで、控えには管理者が捨てるまで残ります）",
        en="traces on the database server (deleted rows in its files until it cleans up, its log of changes until that is discarded, standby servers until they catch up, dumps until the operator deletes them)",
    )
    web_note = Sentence(ja="ボットが開くウェブページには、あなたではなくボットのマシンがつながります。ウェブ検索の言葉は、検索サービスに送られます。", en="Web pages are opened from the bot's machine, not from yours. What the bot searches the web for goes to a search service.")
    confirm_within = Sentence(ja="このボタンは {until} まで使えます。", en="The button works until {until}.")
    erase = Sentence(ja="すべて消す", en="Erase everything")
    erase_ask = Sentence(ja="すべて消す…", en="Erase everything…")
    export = Sentence(ja="JSON で受け取る", en="Get it as a JSON file")
    keep = Sentence(ja="やめる", en="Cancel")
    cancelled = Sentence(ja="やめました。", en="Cancelled.")
    too_late = Sentence(ja="時間がたったので、もう一度 </privacy erase> からやり直してください。", en="That was too long ago. Please start again with </privacy erase>.")
    restarting = Sentence(ja="ただいま再起動の準備中で、まだ何も消していません。少し待ってから、もう一度押してください。", en="I'm about to restart, and nothing is erased yet. Please press it again in a moment.")
    not_yours = Sentence(ja="このボタンは、</privacy erase> を使った人だけが使えます。", en="Only the person who used </privacy erase> can use this button.")
    erased = Sentence(ja="🗑️ すべて消しました。消したもの: {list}", en="🗑️ Everything is erased: {list}")
    nothing_erased = Sentence(ja="消すものはありませんでした。", en="There was nothing to erase.")
    separator = Sentence(ja="、", en="; ")
    pair = Sentence(ja="・", en=", ")
    other_records = Sentence(ja="使った量や設定などの記録", en="usage, settings and other records")
    kind_count = Sentence(ja="{kind} {count}件", en="{kind}: {count}")

    def overview(self, holdings: Holdings, retention: Retention) -> str:
        groups = ((self.groups[group], [self.pair.join(self._count(holdings, kinds)) for kinds in lines]) for group, lines in _GROUPS.items())
        stored = "\n\n".join(f"**{title}**\n{_bullets([line[0].upper() + line[1:] for line in lines if line])}" for title, lines in groups if any(lines))
        kept = _bullets(self.retention_lines(retention, holdings))
        return f"{self.title}\n{stored}\n\n**{self.retention_title}**\n{kept}\n\n-# {self.web_note}"

    def say_what_goes(self, holdings: Holdings) -> str:
        """Say what an erasure deletes, and what stays."""
        return f"**{self.for_good}**\n{self.covers}\n\n**{self.goes}**\n{_bullets(self.list_erased(holdings))}\n\n{self.say_what_stays(holdings)}"

    def say_erased(self, holdings: Holdings) -> str:
        if holdings.has_nothing_to_erase:
            return self.nothing_erased
        return self.erased.format(list=self.separator.join(self.list_erased(holdings)))

    def nothing_to_erase(self, holdings: Holdings) -> str:
        """Say so, and what stays if anything is stored."""
        return self.nothing if holdings.is_empty else f"{self.nothing_erased}\n\n{self.say_what_stays(holdings)}"

    def say_what_stays(self, holdings: Holdings) -> str:
        return f"**{self.remains}**\n{_bullets(self.list_remaining(holdings))}"

    def list_remaining(self, holdings: Holdings) -> list[str]:
        """List what an erasure leaves; the first is on Discord, the last are the copies."""
        return [*self.stays, self.copies_on_server if holdings.on_server else self.copies_of_file]

    def retention_lines(self, retention: Retention, holdings: Holdings) -> list[str]:
        limits = ((self.archive_days, retention.archive_days), (self.session_days, retention.session_days), (self.usage_days, retention.usage_days))
        lines = [template.format(days=days) for template, days in limits if days]
        copies = [self.copy_days.format(days=retention.copy_days)] if retention.copy_days else []
        files = self.files
        if holdings.file_bytes:
            used, quota = f"{holdings.file_bytes / 2**20:.1f}", FILE_QUOTA.user_bytes >> 20
            files = self.files_used.format(used=used, quota=quota)
        return [*lines, self.kept_until_erased, files, *copies, self.backups]

    def list_erased(self, holdings: Holdings) -> list[str]:
        """Name the kinds that users know, and all others in one line."""
        others = sum(holdings.count(kind) for kind in holdings.kinds if kind not in (*_FAMILIAR, *NOT_ERASED))
        return [*self._count(holdings, _FAMILIAR), *([self.kind_count.format(kind=self.other_records, count=f"{others:,}")] if others else [])]

    def _count(self, holdings: Holdings, kinds: Sequence[DataKind]) -> list[str]:
        return [self.kind_count.format(kind=self.kinds[kind], count=f"{holdings.count(kind):,}") for kind in kinds if kind in holdings.kinds]

    def count_rows(self, holdings: Holdings, *, without: Collection[DataKind] = ()) -> list[tuple[str, str, str]]:
        """Return names and counts, after an empty column."""
        return [("", name, f"{holdings.count(kind):,}") for kind, name in self.kinds.items() if kind in holdings.kinds and kind not in without]


def _bullets(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


class ErasureTexts(Area):
    memory_only = Sentence(ja="メモリだけ完全に消す", en="Erase from memory only")
    conversations_too = Sentence(ja="会話の記録からも消す", en="Erase from conversations too")
    mark = Sentence(ja="（消去しました）", en="(erased)")
    done = Sentence(ja="🗑️ 完全に消しました。もう元には戻せません。", en="🗑️ Erased for good. This can't be undone.")
    nothing = Sentence(ja="消すものはありませんでした。", en="There was nothing to erase.")
    removed = Sentence(ja="消したもの: {list}", en="Removed: {list}")
    memories = Sentence(ja="メモリ {count}件", en="{count:memory|memories}")
    versions = Sentence(ja="以前の内容 {count}件", en="{count:earlier version|earlier versions}")
    summaries = Sentence(ja="会話の要約 {count}件", en="{count:conversation summary|conversation summaries}")
    messages = Sentence(ja="会話の記録の発言 {count}件", en="{count:message|messages} in conversation records")
    separator = Sentence(ja="、", en=", ")
    remains = Sentence(ja="-# バックアップや更新前の控え、すでに表示されたメッセージはそのまま残ります。", en="-# Backups, copies made before upgrades, and messages already on screen stay as they are.")
    out_of_reach = Sentence(ja="このメモリは、元に戻したか、完全に消したあとです。会話をまっさらにするには </clear> をお使いください。", en="This memory was restored, or is already erased for good. </clear> starts a new conversation.")

    def say_erased(self, erased: ErasureCounts) -> str:
        counts = ((self.memories, erased.memories), (self.versions, erased.versions), (self.summaries, erased.summaries), (self.messages, erased.messages))
        parts = [template.format(count=Count(count)) for template, count in counts if count]
        if not parts:
            return self.nothing
        return "\n".join((self.done, self.removed.format(list=self.separator.join(parts)), self.remains))


class WebPrivacyTexts(Area):
    stored = Sentence(ja="あなたについて保存しているもの", en="What is stored about you")
    kind = Sentence(ja="種類", en="Kind")
    count = Sentence(ja="件数", en="Number")
    dates = Sentence(ja="期間", en="Dates")
    web_access = Sentence(ja="ウェブを見るとき", en="On the web")
    export_hint = Sentence(ja="保存しているもののすべてを、1つの JSON ファイルで受け取れます（人に見せないでください）。すべて消すこともできます。消したものは戻せません。", en="Everything that is stored about you, in one JSON file; keep it to yourself. Or erase everything, for good.")
    download = Sentence(ja="ダウンロードする", en="Download")
    cancel = Sentence(ja="やめる", en="Cancel")
    copy_first = Sentence(ja="先に控えを受け取る", en="Download a copy first")
    erase_now = Sentence(ja="データをすべて完全に消す", en="Erase all my data for good")
    signed_out = Sentence(ja="このブラウザからもサインアウトしました。また使うときは、Discord で </web> を使ってください。", en="This browser is signed out too. To come back, use </web> on Discord.")


class PrivacyCommandTexts(CommandTexts):
    privacy = Both(ja=("プライバシー", "あなたについて保存しているものを見る・受け取る・消す"), en=("privacy", "See, receive or erase what is stored about you"))
    privacy_show = Both(ja=("表示", "何をどれだけ、いつまで保存しているかを見ます"), en=("show", "Show what is stored, how much, and for how long"))
    privacy_export = Both(ja=("書き出し", "保存しているもののすべてを、JSON ファイルで受け取ります"), en=("export", "Receive everything that is stored, as a JSON file"))
    privacy_erase = Both(ja=("消去", "保存しているものをすべて消します（消す前に確認します）"), en=("erase", "Erase everything that is stored (you are asked first)"))
