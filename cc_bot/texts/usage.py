"""What was used and what is left: said to who used it, and of a server to who manages it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from cc_bot.domain.member import MICROS, MODELS, Total, UsageReport


@dataclass(frozen=True, slots=True)
class UsageTexts:
    title: str
    server_title: str
    nothing: str
    today: str
    """Parameter: total."""
    month: str
    """Parameter: total."""
    total: str
    """Parameters: tokens, turns."""
    total_cost: str
    """Parameters: tokens, turns, cost."""
    left_today: str
    """Parameters: left, limit, resets."""
    left_this_month: str
    """Parameters: left, limit, resets."""
    users: str
    """Parameter: count."""
    models: str
    """The heading of those that used most this month."""
    model: str
    """Parameters: model, tokens."""
    model_cost: str
    """Parameters: model, tokens, cost."""
    offline: str
    """What the model that comes along is called."""
    unpriced: str
    """Parameter: models."""
    chart: str
    """What the chart shows."""
    at: str
    """At the terminal. Parameter: time."""
    managers_only: str
    servers_only: str

    def lines(
        self, report: UsageReport, moment: Callable[[datetime], str], name: Callable[[str], str] = str
    ) -> list[str]:
        """What was used and what is left, a line each; `moment` writes when something is, `name` a model's
        name."""
        lines = [
            self.today.format(total=self._total(report.today, report.currency)),
            self.month.format(total=self._total(report.month, report.currency)),
        ]
        for left in report.left:
            template = self.left_today if left.name == "tokens_per_day" else self.left_this_month
            resets = moment(left.resets_at)
            lines.append(template.format(left=f"{left.left:,}", limit=f"{left.limit:,}", resets=resets))
        if report.users is not None:
            lines.append(self.users.format(count=report.users))
        if report.unpriced:
            lines.append(self.unpriced.format(models=", ".join(map(name, report.unpriced))))
        return lines

    def model_lines(self, report: UsageReport, name: Callable[[str], str] = str) -> list[str]:
        """The models that used most this month."""
        return [
            (self.model_cost if report.currency else self.model).format(
                model=name(model) or self.offline,
                tokens=f"{total.tokens:,}",
                cost=money(total.cost_micros, report.currency),
            )
            for model, total in report.models[:MODELS]
        ]

    def _total(self, total: Total, currency: str) -> str:
        template = self.total_cost if currency else self.total
        cost = money(total.cost_micros, currency)
        return template.format(tokens=f"{total.tokens:,}", turns=f"{total.turns:,}", cost=cost)


def money(micros: int, currency: str) -> str:
    """`0.0123 USD`: with as many decimals as say something."""
    amount = micros / MICROS
    return f"{amount:,.2f} {currency}" if amount >= 1 or not micros else f"{amount:,.4f} {currency}"


JA = UsageTexts(
    title="使用量",
    server_title="このサーバーの使用量",
    nothing="まだ何も使っていません。",
    today="今日: {total}",
    month="今月: {total}",
    total="{tokens} トークン・質問 {turns}件",
    total_cost="{tokens} トークン・質問 {turns}件・{cost}",
    left_today="今日の残り: {left} / {limit} トークン（{resets}に戻ります）",
    left_this_month="今月の残り: {left} / {limit} トークン（{resets}に戻ります）",
    users="今月使った人: {count}人",
    models="今月よく使ったモデル",
    model="{model}: {tokens} トークン",
    model_cost="{model}: {tokens} トークン・{cost}",
    offline="オフラインモデル",
    unpriced="値段が決まっていないため、金額に入っていないモデル: {models}",
    chart="日ごとのトークン",
    at="{time}",
    managers_only="サーバー全体の使用量を見られるのは、サーバーを管理できる人だけです。",
    servers_only="サーバー全体の使用量は、サーバーの中で見てください。",
)

EN = UsageTexts(
    title="What you used",
    server_title="What this server used",
    nothing="Nothing has been used yet.",
    today="Today: {total}",
    month="This month: {total}",
    total="{tokens} tokens, questions: {turns}",
    total_cost="{tokens} tokens, questions: {turns}, {cost}",
    left_today="Left today: {left} of {limit} tokens (all again {resets})",
    left_this_month="Left this month: {left} of {limit} tokens (all again {resets})",
    users="Members who used it this month: {count}",
    models="The models that used most this month",
    model="{model}: {tokens} tokens",
    model_cost="{model}: {tokens} tokens, {cost}",
    offline="the offline model",
    unpriced="Not in the cost, since they have no price: {models}",
    chart="Tokens by day",
    at="at {time}",
    managers_only="Only those who manage the server can see what all of it used.",
    servers_only="Please ask for what a server used in that server.",
)
