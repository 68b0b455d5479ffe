"""Agents, as those who choose among them read of them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AgentTexts:
    the_default: str
    """What the default agent is called where the operator gave it no name."""
    title: str
    in_use: str
    channel_default: str
    gone: str
    """Below the list. Parameter: display (who answers instead)."""
    only_one: str
    more: str
    """Parameter: count."""
    usage: str
    using: str
    """Parameter: display."""
    using_already: str
    """Parameter: display."""
    default_set: str
    """Everyone in the channel reads it. Parameter: display."""
    default_refused: str
    default_nowhere: str
    """In a DM."""


JA = AgentTexts(
    the_default="標準",
    title="ここで使えるエージェント",
    in_use=" — 使用中",
    channel_default=" — このチャンネルの既定",
    gone="選んだエージェントはいまここでは使えないので、「{display}」が答えます。",
    only_one="ここで使えるエージェントは「{display}」だけです。",
    more="ほかに{count}個あります。</agent use> で名前の一部を入力すると見つかります。",
    usage="</agent use> で切り替えます。会話・要約・キャンバスはエージェントごとに別で、メモリは共通です。",
    using="🎭 この場所では、これから「{display}」がお答えします。会話・要約・キャンバスはエージェントごとに別で、メモリは共通です。",
    using_already="この場所では、もう「{display}」がお答えしています。",
    default_set="🎭 このチャンネルの既定のエージェントを「{display}」にしました。自分で選んだ人には、選んだエージェントが答えます。",
    default_refused="チャンネルの既定を決められるのは、「サーバー管理」の権限がある人だけです。自分の分は </agent use> で選べます。",
    default_nowhere="既定を決められるのは、サーバーのチャンネルだけです。ここでは </agent use> で選んでください。",
)

EN = AgentTexts(
    the_default="Standard",
    title="Agents that you can use here",
    in_use=" — in use",
    channel_default=" — this channel's default",
    gone="The agent that you chose can't be used here at present: {display} answers instead.",
    only_one="The only agent here is {display}.",
    more="There are {count} more. Type a part of the name into </agent use> to find them.",
    usage="</agent use> switches. Each agent has its own conversation, summary and canvas; memories are shared.",
    using="🎭 From now on {display} answers you here. Each agent has its own conversation, summary and canvas; memories are shared.",
    using_already="{display} answers you here already.",
    default_set="🎭 The default agent of this channel is {display} now. Whoever chose one for themselves keeps it.",
    default_refused="Only members who may manage the server can set a channel's default. Choose your own with </agent use>.",
    default_nowhere="Only a server's channels have a default. Choose your own here with </agent use>.",
)
