"""Memories on their way into a file and from one."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta

from cc_bot.chat.stores.opening import Stores
from cc_bot.features.memory.files import PortableMemory, parse_memories, to_json, to_portable
from cc_bot.features.memory.model import Source
from tests.stores.memory.notes import ME, START, YOU, found, keep, listed, rewrite

SECRET = "パスワードは Tr0ub4dor&3"


class TestPlan:
    async def test_sorts_out_what_is_new_known_and_refused_and_changes_nothing(self, stores: Stores) -> None:
        cat, _ = await keep(stores, "猫の名前はタマ", "犬も好き")
        await keep(stores, "お茶が好き", user_id=YOU)
        await stores.memories.delete(ME, (await keep(stores, "緑茶が好き"))[0].id)
        read = [
            *map(PortableMemory, ("猫の名前は、タマ！", "お茶が好き", "お茶が好き。", "", " ", SECRET)),
            PortableMemory("緑茶が好き", audience="anywhere"),
            PortableMemory("あ" * 4001),
            PortableMemory("猫", tags=(SECRET,) * 300),
            PortableMemory("犬", category=SECRET * 300),
            PortableMemory("鳥", metadata={"x": SECRET * 300}),
            PortableMemory(SECRET * 1000),  # what is too long is not looked through
        ]
        plan = await stores.memories.plan_import(ME, read, audience="private")
        new = [("お茶が好き", "private"), ("緑茶が好き", "anywhere")]
        assert [(memory.content, memory.audience) for memory in plan.memories] == new
        counts = {"duplicate": 2, "empty": 2, "too_long": 5, "secret": 1}
        assert (Counter(reason for _, reason in plan.left_out), plan.refused_count) == (counts, 8)
        assert await listed(stores) == ["犬も好き", cat.content]


class TestTake:
    async def test_keeps_everything_but_the_kind_of_source(self, stores: Stores) -> None:
        source = Source("message", link="https://discord.com/channels/1/2/3", author="Ben")
        made = PortableMemory("合宿は8月", "部活", ("夏",), "private", source=source, metadata={"a": "b"})
        ends = START + timedelta(days=10_000)
        read = replace(made, created_at=START, updated_at=START, expires_at=ends)
        assert len(await stores.memories.import_all(ME, [read])) == 1
        [kept] = await stores.memories.list(ME)
        assert kept.source == Source("import", source.link, author="Ben")
        assert (kept.created_at, kept.expires_at, kept.audience) == (START, read.expires_at, "private")
        assert (kept.content, kept.category, kept.tags) == ("合宿は8月", "部活", ("夏",))
        assert kept.metadata == {"a": "b"}
        assert await found(stores, "合宿", audience="private") == ["合宿は8月"]

    async def test_of_an_export_gives_everything_back_once(self, stores: Stores) -> None:
        await keep(stores, "あなたのもの", user_id=YOU)
        texts = ("メモ", "ﾒﾓ2", 'a "quoted" \\ text', "二行\nの", "猫🐈", "- [x] list", "{}")
        for content in texts:
            await stores.memories.add(ME, content, category="部活", tags=["夏"], audience="private")
        await rewrite(stores, "前のメモ", "書き直したメモ")
        await stores.memories.delete(ME, (await keep(stores, "消した"))[0].id)
        before = await stores.memories.list(ME, order="oldest")
        assert [memory.content for memory in before] == [*texts, "書き直したメモ"]
        exported = await stores.memories.export_all(ME)
        assert [memory.content for memory in exported] == [*texts, "書き直したメモ"]
        read = parse_memories(to_json(exported, START))
        assert not await stores.memories.import_all(ME, read)
        await stores.memory_removal.erase_all(ME)
        reported = list[tuple[int, int]]()

        async def report(done: int, total: int) -> None:
            reported.append((done, total))

        assert len(await stores.memories.import_all(ME, read, report)) == len(texts) + 1
        assert reported == [(len(read), len(read))]
        after = await stores.memories.list(ME, order="oldest")
        assert [_text(to_portable(each)) for each in after] == [_text(to_portable(each)) for each in before]


def _text(memory: PortableMemory) -> tuple[object, ...]:
    """All but how it came about, and when it was last changed."""
    return memory.content, memory.category, memory.tags, memory.audience, memory.created_at, memory.expires_at
