"""The section about the user's heartbeat on the page of reminders."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from aiohttp import web

from cc_bot.domain.errors import InputError, NothingHere
from cc_bot.domain.when.repeats import parse_hours
from cc_bot.features.heartbeat import service as heartbeats
from cc_bot.features.heartbeat.model import DEFAULT_HOURS, DEFAULT_QUIET_HOURS, format_clock
from cc_bot.features.heartbeat.store import HeartbeatStore
from cc_bot.features.reminders.service import Destination
from cc_bot.features.reminders.store import ScheduleStore
from cc_bot.web.conversations import channel_names
from cc_bot.web.form import form_text
from cc_bot.web.page import Pages, Section
from cc_bot.web.visitor import WebVisitor, visitor_of

_REMINDERS_PATH: Final = "/reminders"


class HeartbeatPages(Pages):
    section_path = _REMINDERS_PATH

    def routes(self) -> Sequence[web.AbstractRouteDef]:
        return (web.post("/heartbeat", self.start), web.post("/heartbeat/stop", self.stop))

    async def section(self, visitor: WebVisitor) -> Section | None:
        if not visitor.user_id:  # heartbeats are sent on Discord only
            return None
        schedule = await heartbeats.find_heartbeat(self._services.stores[ScheduleStore], visitor.user_id)
        ids = [schedule.key.channel_id] if schedule and schedule.target == "channel" else []
        caller = replace(visitor, channels=await channel_names(self._services, ids, visitor))
        quiet = (schedule.quiet if schedule else None) or DEFAULT_QUIET_HOURS
        values = {
            "schedule": schedule,
            "rhythm": schedule and heartbeats.describe_rhythm(schedule, caller),
            "state": heartbeats.describe_heartbeat(schedule, caller),
            "hours": parse_hours(schedule.repeat) if schedule else DEFAULT_HOURS,
            "quiet_from": f"{format_clock(quiet.since):0>5}",
            "quiet_to": f"{format_clock(quiet.until):0>5}",
        }
        return "heartbeat/heartbeat.html", values

    async def start(self, request: web.Request) -> web.StreamResponse:
        visitor, every = visitor_of(request), form_text(request, "every")
        if not visitor.user_id:
            raise NothingHere
        quiet_from = form_text(request, "quiet_from").strip()
        quiet_to = form_text(request, "quiet_to").strip()
        if not (every.isascii() and every.isdecimal()) or bool(quiet_from) != bool(quiet_to):
            raise InputError
        channel_id = visitor.session.origin.channel_id
        key = await self._services.discord.current_key(visitor.user_id, channel_id)
        reply = await heartbeats.start(
            visitor,
            Destination(key, "dm"),
            every=int(every[:9]),
            quiet_from=quiet_from or "0:00",  # two empty fields: no quiet hours
            quiet_to=quiet_to or "0:00",
            schedules=self._services.stores[ScheduleStore],
            clock=self._services.clock,
        )
        return await self._redirect_with_reply(request, _REMINDERS_PATH, reply)

    async def stop(self, request: web.Request) -> web.StreamResponse:
        stores = self._services.stores
        reply = await heartbeats.stop(
            visitor_of(request), schedules=stores[ScheduleStore], heartbeats=stores[HeartbeatStore]
        )
        return await self._redirect_with_reply(request, _REMINDERS_PATH, reply)


PAGES: Final = (HeartbeatPages,)
