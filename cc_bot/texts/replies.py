"""Sentences that replies share, times, and `/usage`."""

from collections.abc import Callable, Mapping
from datetime import datetime

from cc_bot.domain.access import Subject
from cc_bot.domain.text import Count
from cc_bot.domain.usage import MAX_MODELS_NAMED, MICROS, LimitName, RemainingTokens, Total, UsageReport
from cc_bot.texts.area import Area, Both, Sentence, by_key


class ReplyTexts(Area):
    subject_kinds: Both[Mapping[Subject, str]] = by_key({"user": Sentence(ja="ユーザー", en="user"), "role": Sentence(ja="ロール", en="role"), "channel": Sentence(ja="チャンネル", en="channel"), "guild": Sentence(ja="サーバー", en="server")})
    file_name = Sentence(ja="一覧.txt", en="list.txt")
    next_time = Sentence(ja="次は{time}", en="next {time}")
    repeat_and_next = Sentence(ja="{repeat}、{next}", en="{repeat}, {next}")

    def say_next(self, repeat: str, time: str) -> str:
        """Leave out the time of day if that is the last word of `repeat`."""
        return self.next_time.format(time=time.removesuffix(f" {repeat.rpartition(' ')[2]}").rstrip(","))


class MomentTexts(Area):
    at = Sentence(ja="{m}月{d}日({w}) {t}", en="{w}, {m} {d}, {t}")
    at_in_year = Sentence(ja="{y}年{m}月{d}日({w}) {t}", en="{w}, {m} {d} {y}, {t}")
    typed_at = Sentence(ja="{m}月{d}日 {t}", en="{m} {d}, {t}")
    typed_at_in_year = Sentence(ja="{y}年{m}月{d}日 {t}", en="{m} {d} {y}, {t}")
    weekdays = Both(ja=tuple("月火水木金土日"), en=("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"))  # monday first
    day = Sentence(ja="{m}月{d}日({w})", en="{w}, {m} {d}")
    day_in_year = Sentence(ja="{y}年{m}月{d}日({w})", en="{w}, {m} {d} {y}")
    short_day = Sentence(ja="{m}月{d}日", en="{m} {d}")
    short_day_in_year = Sentence(ja="{y}年{m}月{d}日", en="{m} {d} {y}")
    recent_days = Both(ja=("今日", "昨日"), en=("Today", "Yesterday"))
    months = Both(ja=tuple(str(month) for month in range(1, 13)), en=("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"))

    now = Sentence(ja="たった今", en="just now")
    tomorrow = Sentence(ja="明日", en="tomorrow")
    past = Sentence(ja="{count}{unit}前", en="{count} {unit} ago")
    future = Sentence(ja="{count}{unit}後", en="in {count} {unit}")
    units = Both(ja=(("分",) * 2, ("時間",) * 2, ("日",) * 2), en=(("minute", "minutes"), ("hour", "hours"), ("day", "days")))

    def relative(self, local: datetime, now: datetime) -> str:
        """Write how far away a moment is; the date if that is more than 30 days."""
        minutes = round(abs((local - now).total_seconds()) / 60)
        if minutes > 30 * 1440:
            return self.name_day(local, now)
        days = (local.date() - now.astimezone(local.tzinfo).date()).days  # as people count
        if days == 1 and minutes >= 60:
            return self.tomorrow
        count, unit = (minutes // 60, 1) if minutes >= 60 else (minutes, 0)
        if minutes >= 1440:
            count, unit = abs(days), 2
        template = self.past if local < now else self.future
        return template.format(count=count, unit=self.units[unit][count != 1]) if count else self.now

    def written(self, local: datetime, now: datetime) -> str:
        """Write 11月23日(月) 9:00, with the year if it is not that of `now`."""
        return self._fill(self.at if local.year == now.astimezone(local.tzinfo).year else self.at_in_year, local)

    def typed(self, local: datetime, now: datetime) -> str:
        """Write a time for a form: without the weekday, which a user who changes the day would have to change."""
        return self._fill(self.typed_at if local.year == now.astimezone(local.tzinfo).year else self.typed_at_in_year, local)

    def name_day(self, local: datetime, now: datetime) -> str:
        """Write 今日, 昨日 or 11月23日(月), with the year if it is not that of `now`."""
        today = now.astimezone(local.tzinfo).date()
        days = (today - local.date()).days
        if 0 <= days < len(self.recent_days):
            return self.recent_days[days]
        return self._fill(self.day if local.year == today.year else self.day_in_year, local)

    def name_short_day(self, local: datetime, now: datetime) -> str:
        """Write 11月23日, with the year if it is not that of `now`."""
        is_this_year = local.year == now.astimezone(local.tzinfo).year
        return self._fill(self.short_day if is_this_year else self.short_day_in_year, local)

    def _fill(self, template: str, local: datetime) -> str:
        month, weekday = self.months[local.month - 1], self.weekdays[local.weekday()]
        return template.format(y=local.year, m=month, d=local.day, w=weekday, t=f"{local.hour}:{local.minute:02}")


class UsageTexts(Area):
    title = Sentence(ja="使用量", en="Your usage")
    server_title = Sentence(ja="このサーバーの使用量", en="Usage of this server")
    nothing = Sentence(ja="まだ何も使っていません。", en="Nothing has been used yet.")
    today = Sentence(ja="今日: {total}", en="Today: {total}")
    month = Sentence(ja="今月: {total}", en="This month: {total}")
    total = Sentence(ja="{tokens} トークン・質問 {turns}件", en="{tokens} tokens, {turns:question|questions}")
    total_cost = Sentence(ja="{tokens} トークン・質問 {turns}件・{cost}", en="{tokens} tokens, {turns:question|questions}, {cost}")
    sound = Sentence(ja="{total}・音声 {time}", en="{total}, audio: {time}")
    minutes = Sentence(ja="{minutes}分{seconds}秒", en="{minutes} min {seconds} s")
    left: Both[Mapping[LimitName, str]] = by_key({"tokens_per_day": Sentence(ja="今日の残り: {left} / {limit}（{percent}%）", en="Left today: {left} of {limit} ({percent}%)"), "tokens_per_month": Sentence(ja="今月の残り: {left} / {limit}（{percent}%）", en="Left this month: {left} of {limit} ({percent}%)")})
    resets = Sentence(ja="{times} にリセット", en="Resets {times}")
    no_limit = Sentence(ja="上限: なし", en="Limit: none")
    costs = Sentence(ja="金額: 今日 {today}・今月 {month}", en="Cost: {today} today, {month} this month")
    users = Sentence(ja="今月使った人: {count}人", en="Members who used it this month: {count}")
    models = Sentence(ja="今月よく使ったモデル", en="Models used most this month")
    model = Sentence(ja="{model}: {tokens} トークン", en="{model}: {tokens} tokens")
    model_cost = Sentence(ja="{model}: {tokens} トークン・{cost}", en="{model}: {tokens} tokens, {cost}")
    offline = Sentence(ja="オフラインモデル", en="the offline model")
    unpriced = Sentence(ja="値段が決まっていないため、金額に入っていないモデル: {models}", en="Models without a price, not included in the cost: {models}")
    chart = Sentence(ja="使ったトークン", en="Tokens used")
    managers_only = Sentence(ja="サーバー全体の使用量を見られるのは、サーバーを管理できる人だけです。", en="Only people who manage the server can see what the whole server used.")
    servers_only = Sentence(ja="サーバー全体の使用量は、サーバーの中で見てください。", en="To see what a server used, please ask in that server.")

    def lines(self, report: UsageReport, name: Callable[[str], str]) -> list[str]:
        """`name` formats model names."""
        today, month = self.today.format(total=self.format_total(report.today)), self.month.format(total=self.format_total(report.month.total))
        return [today, month, *map(self._left, report.left), *self.remarks(report, name)]

    def notes(self, report: UsageReport, moment: Callable[[datetime], str]) -> list[str]:
        """Say when the limits reset, and what it cost. `moment` formats times."""
        left = [self.resets.format(times=" / ".join(moment(each.resets_at) for each in report.left))] if report.left else []
        today, month = (money(total.cost_micros, report.currency) for total in (report.today, report.month.total))
        return [*left, self.costs.format(today=today, month=month)] if report.currency else left

    def remarks(self, report: UsageReport, name: Callable[[str], str] = str) -> list[str]:
        """Say how many members used the bot, and which models have no price."""
        users = [] if report.users is None else [self.users.format(count=report.users)]
        unpriced = [self.unpriced.format(models=", ".join(map(name, report.unpriced)))] if report.unpriced else []
        return [*users, *unpriced]

    def model_lines(self, report: UsageReport, name: Callable[[str], str] = str) -> list[str]:
        return [(self.model_cost if report.currency else self.model).format(model=name(model) or self.offline, tokens=f"{total.tokens:,}", cost=money(total.cost_micros, report.currency)) + (f" ({self.duration(total.seconds)})" if total.seconds else "") for model, total in report.month.models[:MAX_MODELS_NAMED]]

    def _left(self, allowance: RemainingTokens) -> str:
        percent = 100 * allowance.left // (allowance.limit or 1)
        return self.left[allowance.name].format(percent=percent, left=f"{allowance.left:,}", limit=f"{allowance.limit:,}")

    def format_total(self, total: Total, currency: str = "") -> str:
        line = (self.total_cost if currency else self.total).format(tokens=f"{total.tokens:,}", turns=Count(total.turns), cost=money(total.cost_micros, currency))
        return self.sound.format(total=line, time=self.duration(total.seconds)) if total.seconds else line

    def duration(self, seconds: int) -> str:
        return self.minutes.format(minutes=seconds // 60, seconds=seconds % 60)


def money(micros: int, currency: str) -> str:
    """Write `0.0123 USD`."""
    amount = micros / MICROS
    return f"{amount:,.2f} {currency}" if amount >= 1 or not micros else f"{amount:,.4f} {currency}"
