"""The judge: compares what people see with what the database keeps, and with what the model said.

What people see is the loopback Discord's own record, what the model said is the model server's. Of the
database it reads the archive (`messages`) and what may wait (`turns`), and looks for bytes that should be
gone. It believes nothing that the program says about itself.
"""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.faults.asked import (
    Asked,
    Reminded,
    in_files,
    out_of_reach,
    own_messages,
    promises,
    seen,
    written_out,
)
from tests.faults.stories import Sentence, Storyteller, mark, questions, sentences
from tests.inspection import UNREADABLE, Inspector
from tests.loopback.discord import LoopbackDiscord, Reply, Shown
from tests.loopback.discord.channels import created_at
from tests.loopback.discord.interactions import ACKNOWLEDGE_WITHIN_S

TOLD = {
    "ja": ("ませんでした", "途中で切れました", "もう一度", "動いていません"),
    "en-US": ("again", "broke off", "cut off", "could not", "did not accept"),
}
EXCUSED = {
    0,  # 429: a new process does not know what the one before it had used up
    10015,  # a command whose acknowledgement never arrived: Discord has told its user so by itself
    10008,  # a message that was deleted, and of whose deletion the one before it had heard no more
    40060,  # an acknowledgement that was carried out although its answer was lost
}
_MOST_ASKED = 4
CALLBACK = "POST /interactions/{interaction}/{token}/callback"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the archive."""

    role: str
    content: str
    status: str


@dataclass(slots=True)
class Evidence:
    discord: LoopbackDiscord
    teller: Storyteller
    asked: list[Asked]
    reminders: list[Reminded]
    kills_s: list[float]
    database: Inspector


def judge(case: Evidence) -> list[str]:
    """Every promise that was not kept, as a sentence each; nothing when all were."""
    try:
        found, rows = [*_database(case)], archive(case.database)
    except UNREADABLE as error:
        return [f"the database can't be read: {error}"]
    for asked in case.asked:
        found += [f"{asked}: {fault}" for fault in _question(case, asked, rows)]
    for reminded in case.reminders:
        found += [f"reminder {reminded.mark}: {fault}" for fault in _reminder(case, reminded)]
    found += [f"Discord refused {v}" for v in case.discord.violations if v.code not in EXCUSED]
    found += [f"wrong language for {locale}: {text!r}" for locale, text in case.discord.wrong_language]
    found += [f"misnamed command: {fault}" for fault in case.discord.misnamed_commands]
    return found


def archive(database: Inspector) -> list[Row]:
    return [Row(*row) for row in database.rows("SELECT role, content, status FROM messages")]


# One question


def _question(case: Evidence, asked: Asked, rows: Sequence[Row]) -> Iterator[str]:
    shown = seen(case.discord, asked)
    yield from _interactions(case, asked)
    if asked.deleted_s is not None:
        return
    if promises(case.discord, asked):
        yield f"still promises an answer: {written_out(shown)[:200]!r}"
    answers, whole = _read_now(asked, shown), case.teller.whole(asked.number)
    read = [each for each in answers if each.question == asked.number or not asked.shared]
    told = any(_is_told(asked, each) for each in shown)
    over = out_of_reach(asked)  # what was said there just before a crash, nobody can find out afterwards
    if sum(_is_told(asked, each) for each in shown if each.id not in over) > 1 + len(asked.presses) + len(
        asked.after
    ):
        yield f"its author was told more often than they asked: {written_out(shown)[:300]!r}"
    yield from _repeated("is read", read)
    if len({each.attempt for each in read}) > 1:
        yield f"two answers can be read: {Counter(each.attempt for each in read)}"
    mine = {a.number for a in case.asked if (a.user, a.channel) == (asked.user, asked.channel)}
    if {each.question for each in answers} - (mine if asked.shared else {asked.number}):
        yield "shows the answer to another question"
    if len(read) < whole and not told and not _never_heard_of(asked):
        yield f"neither answered nor told: {len(read)} of {whole} sentences, {written_out(shown)[:200]!r}"
    yield from _kept(asked, rows, read, told=told)
    if (times := case.teller.attempts[asked.number]) > _MOST_ASKED + len(case.kills_s) + len(
        asked.presses
    ) + asked.edits:
        yield f"the model was asked {times} times"


def _read_now(asked: Asked, shown: Sequence[Shown]) -> list[Sentence]:
    over = out_of_reach(asked)
    reached = [each for each in shown if not (each.ephemeral and each.id in over)]
    return _read(reached) or _read(shown)


def _read(shown: Sequence[Shown]) -> list[Sentence]:
    files = in_files(shown)
    return max(files, key=len) if files else sentences(written_out(shown))


def _is_told(asked: Asked, shown: Shown) -> bool:
    own_words = "\n".join(line for line in shown.text.splitlines() if not sentences(line))
    known = TOLD[asked.user.locale] if asked.post is None else (*TOLD["ja"], *TOLD["en-US"])
    return any(phrase in own_words for phrase in known)


def _repeated(where: str, found: Sequence[Sentence]) -> Iterator[str]:
    twice = [str(each) for each, count in Counter(found).items() if count > 1]
    if twice:
        yield f"{where} twice: {', '.join(twice[:3])} and {len(twice)} in all"


def _kept(asked: Asked, rows: Sequence[Row], read: Sequence[Sentence], *, told: bool) -> Iterator[str]:
    answers = [row for row in rows if row.role == "assistant" and row.status != "replaced"]
    kept = [s for row in answers for s in sentences(row.content) if s.question == asked.number]
    own = [row for row in rows if row.role == "user" and asked.number in questions(row.content)]
    if not asked.stored:
        if kept or own:
            yield "was to be forgotten, and stands in the archive"
        return
    yield from _repeated("stands in the archive", kept)
    if kept and not set(kept) <= set(read):
        yield f"of the stored answer nobody sees {len(set(kept) - set(read))} sentences"
    if not told and set(read) != set(kept):
        yield f"{len(set(read) - set(kept))} sentences are read that are not in the archive"
    if kept and len([row for row in own if row.status != "replaced"]) != 1:
        yield f"its question stands in the archive {len(own)} times"


def _interactions(case: Evidence, asked: Asked) -> Iterator[str]:
    for reply in asked.interactions:
        if not reply.is_acknowledged and not _was_down(case, reply):
            yield "was never acknowledged, although the program ran"


def _was_down(case: Evidence, reply: Reply) -> bool:
    # The double gives back the time in which it stood still, from when it was sent by the wall's clock.
    sent = created_at(reply.interaction.id).timestamp() - time.time() + time.monotonic()
    late = max(sent, reply.interaction.sent_at_s) + ACKNOWLEDGE_WITHIN_S
    killed = any(sent <= at <= late for at in case.kills_s)
    calls = [e for e in case.discord.transcript if e.route == CALLBACK]
    failed = any(e.params["token"] == reply.interaction.token and e.status not in (200, 204) for e in calls)
    return killed or failed


def _never_heard_of(asked: Asked) -> bool:
    return asked.unheard or (asked.reply is not None and not asked.reply.is_acknowledged)


# Reminders


def _reminder(case: Evidence, reminded: Reminded) -> Iterator[str]:
    answers = {m.id for m in own_messages(case.discord, reminded.asked)} if reminded.asked else set()
    public = [m for m in case.discord.messages(reminded.channel) if m.id not in answers and not m.ephemeral]
    said = [m for m in public if reminded.mark in m.text and m.author is case.discord.bot]
    told = [m for m in case.discord.messages(case.discord.dm(reminded.user)) if reminded.mark in m.text]
    reply, asked = reminded.reply, reminded.asked
    confirmed = (
        reminded.mark in reply.text if reply else asked and case.teller.ends.get(asked.number) == "done"
    )
    if reply and not reply.is_acknowledged and not _was_down(case, reply):
        yield "was never acknowledged, although the program ran"
    if len(said) > 1:
        yield f"was said {len(said)} times"
    if len(told) > 1:
        yield f"its owner was told {len(told)} times"
    if confirmed and not said and not told:
        yield "was promised, and neither said nor excused"


# The database


def _database(case: Evidence) -> Iterator[str]:
    if damaged := [*case.database.faults()]:
        yield from damaged
        return
    [(tokens,)] = case.database.rows("SELECT count(*) FROM turns WHERE token IS NOT NULL")
    [(waiting,)] = case.database.rows(
        "SELECT count(*) FROM turns WHERE kind = 'mention' AND state = 'accepted'"
    )
    if tokens:
        yield f"{tokens} tokens of interactions are kept"
    if waiting:
        yield f"{waiting} mentions are still to be answered"
    yield from traces(case.database, case.asked)
    case.database.rewrite()  # a dead token is worth no rewriting to the program
    held = case.database.held()
    for reply in case.discord.replies:
        if reply.interaction.token.encode() in held:
            yield f"the bytes of a token are left in the database ({reply.interaction.user.name})"


def traces(database: Inspector, asked: Sequence[Asked]) -> Iterator[str]:
    held = database.held()
    for each in asked:
        if not each.stored:
            wanted = (mark(each.number), f"A{each.number:04}x")
            if any(text.encode() in held for text in wanted):
                yield f"{each}: has left bytes in the database"
