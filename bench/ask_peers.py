import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median, quantiles

from bench.figures import Line, Spread, Words
from bench.programs import QUESTION, Scene, bare_scene, cc_bot_scene
from bench.soak import PAGES_MB, Sample, slope

GOAL_P50_MS, GOAL_P99_MS = 10.0, 50.0
GOAL_THROUGHPUT = 0.5
GOAL_ACKNOWLEDGED_S = 3.0
GOAL_START, GOAL_IDLE_MB, GOAL_GROWTH_MB = 1.3, 40.0, 1.0
ROUNDS_ALONE, ASKS_ALONE = 12, 25
ROUNDS_TOGETHER, ASKS_TOGETHER, AT_ONCE = 6, 300, 100
BURST = 500
STARTS = 5
TURNS, SAMPLES = 10_000, 40

BARE = Words("何もしないボット", "the bare bot")
DEFERRED = Words("先に受領するボット", "the bare bot that acknowledges first")
NOTHING = Words("比べるものなし", "beside nothing")


async def measure(folder: Path) -> list[Line]:
    async with AsyncExitStack() as stack:
        ours = await stack.enter_async_context(cc_bot_scene(folder / "ours"))
        bare = await stack.enter_async_context(bare_scene(folder / "bare"))
        deferred = await stack.enter_async_context(bare_scene(folder / "deferred", deferred=True))
        scenes = (ours, bare, deferred)
        for scene in scenes:
            await scene.start()
            scene.fill(BURST)
        await asyncio.sleep(2.0)
        idle = ours.megabytes() - bare.megabytes()
        lines = [*await alone(*scenes), *await together(*scenes), await burst(ours)]
        what = Words("待機中のメモリー", "memory when idle")
        lines.append(Line("ask", what, BARE, Spread.of([idle]), "MB", GOAL_IDLE_MB))
        lines.append(await growth(ours))
    return [*lines, *await starts(folder / "starts")]


async def alone(ours: Scene, bare: Scene, deferred: Scene) -> list[Line]:
    took: dict[int, list[list[float]]] = {0: [], 1: [], 2: []}
    for number in range(ROUNDS_ALONE + 1):
        for index, scene in enumerate((ours, bare, deferred)):
            asked = [await scene.ask() for _ in range(ASKS_ALONE)]
            scene.forget()
            if number:
                took[index].append(asked)
    what = Words("/ask、一人ずつ、p50 で加わる時間", "/ask one at a time, added to p50")
    worst = Words("/ask、一人ずつ、p99 で加わる時間", "/ask one at a time, added to p99")
    lines = list[Line]()
    for index, beside in ((1, BARE), (2, DEFERRED)):
        added = [
            (median(mine) - median(theirs)) * 1e3 for mine, theirs in zip(took[0], took[index], strict=True)
        ]
        high = (p99_of(took[0]) - p99_of(took[index])) * 1e3
        lines.append(Line("ask", what, beside, Spread.of(added), "ms", GOAL_P50_MS, "under"))
        lines.append(Line("ask", worst, beside, Spread.of([high]), "ms", GOAL_P99_MS, "under"))
    return lines


def p99_of(blocks: list[list[float]]) -> float:
    return quantiles([each for block in blocks for each in block], n=100)[98]


async def together(ours: Scene, bare: Scene, deferred: Scene) -> list[Line]:
    """Our throughput as a share of the others'."""
    per_s: dict[int, list[float]] = {0: [], 1: [], 2: []}
    used: dict[int, list[float]] = {0: [], 1: [], 2: []}
    for number in range(ROUNDS_TOGETHER + 1):
        for index, scene in enumerate((ours, bare, deferred)):
            before = scene.processor_s()
            took = await scene.asks(ASKS_TOGETHER, AT_ONCE)
            if number:
                per_s[index].append(ASKS_TOGETHER / took)
                used[index].append((scene.processor_s() - before) / ASKS_TOGETHER)
    what = Words("/ask、100人同時、処理できる量", "/ask 100 at a time, throughput")
    effort = Words("/ask、100人同時、プロセッサーの時間", "/ask 100 at a time, processor time")
    lines = [
        Line(
            "ask", what, beside, Spread.of_ratios(per_s[0], per_s[index]), goal=GOAL_THROUGHPUT, bound="least"
        )
        for index, beside in ((1, BARE), (2, DEFERRED))
    ]
    return [*lines, Line("ask", effort, DEFERRED, Spread.of_ratios(used[0], used[2]))]


async def burst(ours: Scene) -> Line:
    """The last acknowledgement of as many questions as come in one second, each of another user."""

    async def ask(number: int) -> float:
        await asyncio.sleep(number / BURST)
        user, channel = ours.users[number], ours.channels[number]
        reply = await ours.discord.slash(user, channel, "ask", question=QUESTION)
        await reply.until(lambda seen: seen.is_acknowledged, "an acknowledgement")
        await ours.answered(reply)
        return reply.acknowledged_after_s

    slowest = max(await asyncio.gather(*(ask(number) for number in range(BURST))))
    ours.forget()
    what = Words(
        "1秒間に500件の /ask、最後の受領まで", "500 /ask in a second, until the last is acknowledged"
    )
    return Line("ask", what, NOTHING, Spread.of([slowest]), "s", GOAL_ACKNOWLEDGED_S)


async def growth(ours: Scene) -> Line:
    samples = list[Sample]()
    database = ours.program.folder / "data" / "sessions.db"
    each = TURNS // SAMPLES
    for number in range(1, SAMPLES + 1):
        await ours.asks(each, AT_ONCE)
        stored = database.stat().st_size / 1024**2
        samples.append(Sample(number * each, ours.megabytes(), 0.0, 0, stored))
    rises = slope(samples, "megabytes_beside_pages")
    what = Words(
        f"1,000ターンごとに増えるメモリー（{TURNS:,}ターン、SQLite の {PAGES_MB:.0f} MB を除く）",
        f"memory that 1,000 turns add (of {TURNS:,}; without SQLite's {PAGES_MB:.0f} MB)",
    )
    return Line("ask", what, NOTHING, Spread.of([rises]), "MB", GOAL_GROWTH_MB, "under")


async def starts(folder: Path) -> list[Line]:
    ours, bare = list[float](), list[float]()
    async with cc_bot_scene(folder / "ours") as mine, bare_scene(folder / "bare") as theirs:
        for number in range(STARTS + 1):
            for scene, times in ((mine, ours), (theirs, bare)):
                took = await scene.start()
                await scene.stop()
                if number:
                    times.append(took)
    what = Words("起動（最後の登録が済むまで）", "a start, until all is registered")
    return [Line("ask", what, BARE, Spread.of_ratios(ours, bare), goal=GOAL_START)]
