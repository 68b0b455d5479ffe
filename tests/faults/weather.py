from collections.abc import Sequence
from random import Random

from tests.end_to_end.stage import Stage
from tests.faults.asked import Asked
from tests.faults.kills import CALLBACK, EDIT, EDIT_POST, FOLLOW_UP, POST
from tests.faults.stories import Storyteller, Tale, Trouble, beginning
from tests.loopback.model_server import CutConnection, End, Fragment, Hang, Raw, Reply, Say, fails, hangs


def cut_after(chunks: int, *end: CutConnection | End | Hang | Raw) -> Trouble:
    """An answer that ends in this way."""

    def trouble(tale: Tale, question: int, attempt: int) -> Reply:
        return Reply(*beginning(tale, question, attempt, chunks=chunks), *end)

    return trouble


def just(reply: Reply) -> Trouble:
    return lambda *_: reply


def called(name: str, arguments: str) -> Trouble:
    return just(Reply(Fragment(arguments, name, "call_1"), End("tool_calls")))


MODEL: dict[str, Trouble] = {
    "429": just(fails(429)),
    "429 for a minute": just(fails(429, headers={"Retry-After": "60"})),
    "500": just(fails(500)),
    "503": just(fails(503)),
    "400": just(fails(400)),
    "401": just(fails(401)),
    "a page of HTML": just(Reply(Raw("<html><body>502 Bad Gateway</body></html>"))),
    "hangs": just(hangs()),
    "cut before a word": just(Reply(CutConnection())),
    "nothing": just(Reply(End())),
    "white space": just(Reply(Say(" \n "), End())),
    "cut": cut_after(2, CutConnection()),
    "hangs amid": cut_after(2, Hang()),
    "no end": cut_after(2, End(None)),
    "too long": cut_after(2, End("length")),
    "garbage amid": cut_after(2, Raw("data: {broken\n\n")),
    "a chunk that is none": cut_after(1, Raw("data: [1, 2]\n\n")),
    "half a tool's JSON": called("remember", '{"content": "青が'),
    "a tool's JSON of another kind": called("remember", '["青"]'),
    "a tool that there is not": called("rm", '{"path": "/"}'),
    "a tool with other arguments": called("recall", '{"query": {"a": 1}, "limit": "lots", "user_id": 1}'),
}

DISCORD: tuple[str, ...] = (CALLBACK, EDIT, FOLLOW_UP, POST, EDIT_POST)
STATUSES: tuple[int | None, ...] = (429, 500, 502, 503, None)


def trouble_with_the_model(teller: Storyteller, asked: Sequence[Asked], rng: Random) -> list[str]:
    """The first request of each question fails, each in a way of its own; which ones."""
    names = rng.sample([*MODEL], len(asked))
    for each, name in zip(asked, names, strict=True):
        teller.trouble[each.number] = MODEL[name]
    return names


def trouble_with_discord(stage: Stage, rng: Random, *, bursts: int) -> list[str]:
    """Bursts of failures on routes that answers go through; some were carried out all the same."""
    ordered = []
    for _ in range(bursts):
        route, status, times = rng.choice(DISCORD), rng.choice(STATUSES), rng.randint(1, 3)
        effect = status != 429 and rng.random() < 0.5
        stage.discord.fail_next(route, status, times=times, take_effect=effect, retry_after_s=0.2)
        ordered.append(f"{route} {status} {times} times{', carried out' if effect else ''}")
    return ordered
