"""Names and descriptions of the commands for agents."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AgentCommandTexts:
    agent: str
    agent_description: str
    agent_list: str
    agent_list_description: str
    agent_use: str
    agent_use_description: str
    agent_default: str
    agent_default_description: str
    agent_name: str
    agent_name_description: str


EN = AgentCommandTexts(
    agent="agent",
    agent_description="Who answers you",
    agent_list="list",
    agent_list_description="List the agents that you can use here",
    agent_use="use",
    agent_use_description="Choose who answers you in this channel",
    agent_default="default",
    agent_default_description="Choose who answers in this channel by default (for those who manage the server)",
    agent_name="name",
    agent_name_description="An agent; type a part of its name to choose from matches",
)

JA = AgentCommandTexts(
    agent="エージェント",
    agent_description="だれが答えるかを選びます",
    agent_list="一覧",
    agent_list_description="ここで使えるエージェントを一覧にします",
    agent_use="使う",
    agent_use_description="このチャンネルであなたに答えるエージェントを選びます",
    agent_default="既定",
    agent_default_description="このチャンネルの既定のエージェントを決めます（サーバーを管理する人だけ）",
    agent_name="名前",
    agent_name_description="エージェント。名前の一部を入力すると候補が出ます",
)
