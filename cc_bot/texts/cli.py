"""What the command line says."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CliTexts:
    description: str
    run: str
    chat: str
    migrate: str
    chat_user: str
    chat_channel: str
    chat_agent: str
    no_id: str
    migration: str
    """Parameters: version, description."""
    migrated: str
    """Parameter: path."""
    up_to_date: str
    """Parameter: path."""
    ready: str
    """Parameter: name (the bot's)."""
    mentions_only: str
    stopping: str
    """Parameter: seconds."""
    offline_model: str
    broke: str
    """Parameter: error (its type)."""


JA = CliTexts(
    description="Discord で、覚えていてくれるアシスタント。",
    run="Discord ボットを動かします（DISCORD_TOKEN が必要です）",
    chat="ターミナルで話します（トークンも API キーもいりません）",
    migrate="データベースの形式を最新にします",
    chat_user="この利用者として話します（既定: 0）",
    chat_channel="このチャンネルとして話します（既定: 0）",
    chat_agent="このエージェントと話します（agents.toml の名前）",
    no_id="Discord の ID（数字）で書いてください",
    migration="適用します: {version:04d} {description}",
    migrated="データベースを最新にしました: {path}",
    up_to_date="データベースは最新です: {path}",
    ready="{name} として Discord につながりました。止めるには Ctrl-C を押してください。",
    mentions_only=(
        "CC_BOT_CHANNELS=all ですが、Message Content Intent が有効になっていないため、"
        "ボット宛てのメッセージだけを読みます。すべて読むには、Developer Portal の Bot で "
        "Message Content Intent を有効にして、起動し直してください。"
    ),
    stopping="止めています。答えている途中の質問を最長{seconds}秒待ちます…",
    offline_model="オフラインモデル",
    broke="思わぬエラーで止まりました（{error}）。上の記録を添えて、開発者にお知らせください。",
)

EN = CliTexts(
    description="A Discord assistant that remembers.",
    run="run the Discord bot (needs DISCORD_TOKEN)",
    chat="chat in the terminal (needs neither a token nor an API key)",
    migrate="bring the database's schema up to date",
    chat_user="chat as this user (default: 0)",
    chat_channel="chat in this channel (default: 0)",
    chat_agent="chat with this agent (a name in agents.toml)",
    no_id="must be an id of Discord, which is a number",
    migration="Applying {version:04d} {description}",
    migrated="The database is up to date now: {path}",
    up_to_date="The database is up to date: {path}",
    ready="Connected to Discord as {name}. Press Ctrl-C to stop.",
    mentions_only=(
        "CC_BOT_CHANNELS=all, but the Message Content Intent is not switched on: I read only messages that "
        "are addressed to me. To have me read all, switch it on in the Developer Portal under Bot, and "
        "start me again."
    ),
    stopping="Stopping. Waiting up to {seconds} seconds for answers on their way…",
    offline_model="offline model",
    broke="Stopped by an unexpected error ({error}). Please report it together with the record above.",
)
