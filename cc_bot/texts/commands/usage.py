"""Names and descriptions of `/usage`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class UsageCommandTexts:
    usage: str
    usage_description: str
    usage_server: str
    usage_server_description: str


JA = UsageCommandTexts(
    usage="使用量",
    usage_description="使ったトークンと金額、残りを見ます（自分だけに見えます）",
    usage_server="サーバー",
    usage_server_description="このサーバー全体の合計を見ます（サーバーを管理できる人だけ）",
)

EN = UsageCommandTexts(
    usage="usage",
    usage_description="See the tokens you used, what they cost and what is left (only you see it)",
    usage_server="server",
    usage_server_description="See the totals of this server (for those who manage it)",
)
