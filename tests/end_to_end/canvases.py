from collections.abc import Callable

from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, Reply, Shown, User, limits
from tests.loopback.model_server import Call, calls, says

HEADING = "-# 🖼️"
SHOPPING = Call("canvas_add_card", {"title": "買い物", "content": "- 牛乳", "id": "shopping"})
PLAN = Call("canvas_show_text", {"content": "朝は散歩、昼は図書館。", "id": "plan"})
SALES = Call(
    "canvas_add_chart",
    {
        "title": "売上",
        "kind": "bar",
        "labels": ["1月", "2月"],
        "series": [{"name": "本店", "values": [3, 5]}],
        "id": "sales",
    },
)
CLEAR = Call("canvas_set_mode", {"mode": "clear"})


def update(element_id: str, content: str) -> Call:
    return Call("canvas_update_card", {"id": element_id, "content": content})


def remove(element_id: str) -> Call:
    return Call("canvas_remove_element", {"id": element_id})


async def draw(stage: Stage, user: User, channel: Channel, *wanted: Call, **options: bool) -> Reply:
    """`/ask` something for which the model draws."""
    stage.model.script(calls(*wanted), says("はい、どうぞ。" if user.locale == "ja" else "Here you are."))
    return await stage.ask(user, channel, "キャンバスに出して", **options)


def boards(stage: Stage, channel: Channel) -> list[Shown]:
    """The messages that show canvases to everyone in a channel now."""
    return [
        shown
        for shown in stage.discord.messages(channel)
        if shown.text.startswith(HEADING) and not shown.ephemeral and not shown.deleted
    ]


async def board(stage: Stage, channel: Channel, like: Callable[[Shown], object] = lambda _: True) -> Shown:
    """Wait until there is one such message and it looks so."""
    await stage.discord.wait(
        lambda: len(boards(stage, channel)) == 1 and like(boards(stage, channel)[0]), "a canvas"
    )
    return boards(stage, channel)[0]


async def no_board(stage: Stage, channel: Channel) -> None:
    await stage.discord.wait(lambda: not boards(stage, channel), "no canvas")


def _elements(shown: Shown) -> list[str]:
    """The texts in the card, without its small print, and the titles of pictures."""
    found = list[str]()
    for each in limits.walk([each for each in shown.components if each["type"] == limits.CONTAINER]):
        if each["type"] == limits.TEXT and not each["content"].startswith("-# "):
            found.append(each["content"])
        elif each["type"] == limits.GALLERY:
            found += [f"### {item['description']}" for item in each["items"]]
    return found


def titles(shown: Shown) -> list[str]:
    """A title for each element, empty if it has none."""
    firsts = [text.split("\n")[0] for text in _elements(shown)]
    return [first.removeprefix("### ") if first.startswith("### ") else "" for first in firsts]


def texts_of(shown: Shown) -> list[str]:
    return [text.partition("\n")[2] if text.startswith("### ") else text for text in _elements(shown)]


def pictures_of(shown: Shown) -> list[str]:
    """The addresses of the pictures."""
    walked = limits.walk(list(shown.components))
    galleries = [each for each in walked if each["type"] == limits.GALLERY]
    return [item["media"]["url"] for each in galleries for item in each["items"]]
