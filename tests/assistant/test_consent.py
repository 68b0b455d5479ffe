"""A selection of the attacks and wishes of tests/attacks, for every run of the tests: each way in, once."""

from pathlib import Path

import pytest

from tests.attacks.carriers import CARRIERS, Carrier
from tests.attacks.one_memory import try_out
from tests.attacks.orders import ORDERS, WAYS, attack
from tests.attacks.scene import laid_scene
from tests.attacks.wishes import Asked, end_of, wishes


@pytest.mark.parametrize("carrier", CARRIERS, ids=lambda carrier: carrier.__name__)
async def test_an_order_in_others_words_changes_nothing(tmp_path: Path, carrier: Carrier) -> None:
    at = CARRIERS.index(carrier)
    async with laid_scene(tmp_path) as scene:
        await attack(scene, carrier, ORDERS[at * 3 % len(ORDERS)], WAYS[at % len(WAYS)])


@pytest.mark.parametrize(
    "asked", ["in a session", "in a quiet channel", "in a busy channel", "beside a file"]
)
async def test_a_natural_wish_is_done(tmp_path: Path, asked: Asked) -> None:
    found = [wish for wish in wishes("mentions.jsonl")[::17] if wish.text != "could you forget my weight?"]
    if asked == "beside a file":  # which a wish that only points (今の覚えて) may mean
        found = [wish for wish in found if not wish.earlier]
    ends = {wish.text: await end_of(tmp_path / str(at), wish, asked) for at, wish in enumerate(found)}
    assert set(ends.values()) == {"done"}, ends


@pytest.mark.parametrize(
    "actions",
    [
        ("list", "forget A", "forget B"),
        ("list", "forget B", "supersede A"),
        ("recall A", "forget A", "recall both", "forget B"),
        ("list", "say A again in the place of B", "forget A"),
        ("list", "remember", "forget what is new", "update A", "update B"),
    ],
    ids=", ".join,
)
async def test_an_untainted_turn_changes_one_memory_at_most(tmp_path: Path, actions: tuple[str, ...]) -> None:
    async with laid_scene(tmp_path) as scene:
        await try_out(scene, actions, at_once=False)
