import asyncio
import json
import random
import re
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from zoneinfo import ZoneInfo

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python bench/reading.py`


from cc_bot import open_stores
from cc_bot.chat.context.attachments import as_prompt_text
from cc_bot.chat.context.tokens import estimate_tokens
from cc_bot.chat.tools import ToolContext, discover_tools
from cc_bot.domain.message import Attachment, Document
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.features.documents.reader import DocumentReader
from cc_bot.llm.model import ToolRequest
from tests import documents

SET = Path(__file__).resolve().parent / "reading_set.jsonl"
SEED = 20261126
DOCUMENTS = 40
PAGE_SENTENCES = 14

SECONDS, START_S, ERROR_RATE, FOUND, AT_ONCE_MIB = 1.0, 0.3, 0.01, 57, 20.0

OPENINGS = (
    *(
        "これについては、担当の部署に確かめてから進めてください。",
        "くわしいことは別に定めるところによります。",
    ),
    *(
        "変更があったときは、すみやかに知らせる必要があります。",
        "この決まりは、関係する全員に当てはまります。",
    ),
    *("疑問がある場合は、窓口まで問い合わせてください。", "記録は所定の用紙に残し、一年のあいだ保管します。"),
    *("前の年と比べて、大きな違いはありませんでした。", "例外を認めるかどうかは、そのつど判断します。"),
    *("手順を守らないと、思わぬ事故につながることがあります。", "次の章では、その背景を順に説明します。"),
)


@dataclass(frozen=True, slots=True)
class Fact:
    fact: str
    question: str


@dataclass(frozen=True, slots=True)
class Made:
    """A document, what it was made of, and what is asked about it."""

    name: str
    data: bytes
    text: str
    facts: tuple[Fact, ...]


def facts() -> list[Fact]:
    return [Fact(**json.loads(line)) for line in SET.read_text("utf-8").splitlines()]


def words_of(fact: Fact) -> list[str]:
    """Nouns of a question, which other pages use too."""
    return re.findall(r"[一-龠々]{2,}|[ァ-ヴー]{3,}|[A-Za-z]{5,}", fact.question)


def pages(asked: Sequence[Fact], others: Sequence[Fact], count: int, chance: random.Random) -> list[str]:
    found = []
    nouns = [word for fact in (*asked, *others[:6]) for word in words_of(fact)]
    for number in range(1, count + 1):
        sentences = []
        for _ in range(PAGE_SENTENCES):
            noun = chance.choice(nouns)
            sentences.append(chance.choice((f"{noun}の扱いは{number}節のとおりです。", *OPENINGS)))
        found.append(sentences)
    for fact in asked:
        page = chance.randrange(count)
        found[page].insert(chance.randrange(PAGE_SENTENCES), fact.fact)
    return ["\n".join(sentences) for sentences in found]


def make(number: int, asked: Sequence[Fact], others: Sequence[Fact], chance: random.Random) -> Made:
    kind, build = KINDS[number % len(KINDS)]
    count = chance.choice((5, 30, 60, 100)) if kind != "vertical.pdf" else 1
    texts = pages(asked, others, count, chance)
    if kind == "vertical.pdf":
        texts = [fact.fact for fact in (*asked, *others[:8])]
    return Made(f"{number}.{kind}", build(texts), "\n".join(texts), tuple(asked))


def _slides(texts: Sequence[str]) -> bytes:
    return documents.powerpoint([(text.split("\n")[0], text.partition("\n")[2]) for text in texts])


def _book(texts: Sequence[str]) -> bytes:
    return documents.epub([(text.split("\n")[0], _paragraphs(text.partition("\n")[2])) for text in texts])


def _sheets(texts: Sequence[str]) -> bytes:
    return documents.excel({f"表{n}": [[line] for line in text.split("\n")] for n, text in enumerate(texts)})


KINDS: Sequence[tuple[str, Callable[[Sequence[str]], bytes]]] = (
    ("pdf", documents.pdf),
    ("docx", lambda texts: documents.word("\n".join(texts).split("\n"))),
    ("pdf", lambda texts: documents.pdf(texts, columns=2)),
    ("pptx", _slides),
    ("pdf", documents.pdf),
    ("epub", _book),
    ("xlsx", _sheets),
    ("vertical.pdf", documents.vertical_pdf),
    ("odt", lambda texts: documents.opendocument(_paragraphs("\n".join(texts), "text:p"))),
)


def _paragraphs(text: str, name: str = "p") -> str:
    return "".join(f"<{name}>{line}</{name}>" for line in text.split("\n"))


def bare(text: str) -> str:
    """The characters that are compared: no white space, and nothing that a table or a heading is made of."""
    return re.sub(r"[\s|#]|(?<=\|) --- (?=\|)|^Notes: ", "", text.replace("| --- ", ""))


def distance(one: str, other: str) -> int:
    """The number of characters that differ (Ukkonen's bands: nearly equal texts take no time)."""
    bound = 8
    while True:
        found = _within(one, other, bound)
        if found is not None:
            return found
        bound *= 4


def _within(one: str, other: str, bound: int) -> int | None:
    if abs(len(one) - len(other)) > bound:
        return None
    infinite = len(one) + len(other)
    row = {at: at for at in range(min(bound, len(other)) + 1)}
    for i, character in enumerate(one, 1):
        next_row = {}
        for j in range(max(0, i - bound), min(len(other), i + bound) + 1):
            if j == 0:
                next_row[0] = i
                continue
            same = row.get(j - 1, infinite) + (character != other[j - 1])
            next_row[j] = min(same, row.get(j, infinite) + 1, next_row.get(j - 1, infinite) + 1)
        row = next_row
    found = row.get(len(other), infinite)
    return found if found <= bound else None


async def measure_speed() -> tuple[float, float]:
    """The seconds that a Japanese PDF of 100 pages takes, and those that its process takes to start
    (medians)."""
    page = "\n".join(OPENINGS * 3)
    large, small = documents.pdf([page] * 100), "品目,金額\n".encode()
    return await _seconds(large), await _seconds(small)


async def _seconds(data: bytes) -> float:
    taken = []
    for _ in range(7):
        begun = time.perf_counter()
        await DocumentReader().read(data)
        taken.append(time.perf_counter() - begun)
    return median(taken)


def error_rate(made: Made, read: Document) -> float:
    source = bare(made.text)
    return distance(source, bare("\n".join(part.text for part in read.parts))) / len(source)


async def look_up(file: Attachment, question: str) -> str:
    with TemporaryDirectory() as folder:
        return await _look_up(folder, file, question)


async def _look_up(folder: str, file: Attachment, question: str) -> str:
    async with open_stores(f"sqlite:///{folder}/sessions.db") as stores:
        key = SessionKey(1, 2)
        context = ToolContext(key, "public", Locale.JA, ZoneInfo("Asia/Tokyo"), stores, files=(file,))
        tools = discover_tools()
        request = ToolRequest("1", "read_file", json.dumps({"file": file.name, "query": question}))
        told = json.loads((await tools.call(request, context, tools.schemas())).text)
        return "\n".join(told.get("found", ()))


def own_mib() -> float:
    [found] = re.findall(r"^VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(found) / 1024


async def measure_memory(files: Sequence[Made]) -> float:
    with TemporaryDirectory() as folder:
        for number, made in enumerate(files):
            (Path(folder) / str(number)).write_bytes(made.data)
        command = (sys.executable, "-m", "bench.reading", folder)
        process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        told, _ = await process.communicate()
    return float(told)


async def read_at_once(folder: Path) -> float:
    reader, paths, before = DocumentReader(), sorted(folder.iterdir()), own_mib()  # noqa: ASYNC240 - a bench
    found = await asyncio.gather(*(reader.read(path.read_bytes()) for path in paths))
    assert len(found) == 20
    assert not {"pypdfium2", "python_calamine"} & sys.modules.keys()  # the extra costs the bot nothing
    return own_mib() - before


def make_all() -> list[Made]:
    chance, known = random.Random(SEED), facts()
    chance.shuffle(known)
    made = []
    for number in range(DOCUMENTS):
        asked = known[number * len(known) // DOCUMENTS : (number + 1) * len(known) // DOCUMENTS]
        others = chance.sample([fact for fact in known if fact not in asked], 12)
        made.append(make(number, asked, others, chance))
    return made


async def run() -> int:
    large, start = await measure_speed()
    files = make_all()
    grown = await measure_memory(sorted(files, key=lambda made: -len(made.text))[:20])
    reader, rates, served, looked_up, missed = DocumentReader(), list[float](), 0, 0, list[str]()
    for made in files:
        read = (await reader.read(made.data)).document
        rates.append(error_rate(made, read))
        file = Attachment(made.name, "", b"", read)
        for fact in made.facts:
            shown = bare(fact.fact) in bare(as_prompt_text(file, estimate_tokens))
            looked_up += not shown
            if shown or bare(fact.fact) in bare(await look_up(file, fact.question)):
                served += 1
            else:
                missed.append(f"{made.name}: {fact.question}")
    rate = sum(rates) / len(rates)
    questions = sum(len(made.facts) for made in files)
    print(f"a Japanese PDF of 100 pages to text: {large:.2f} s (goal: under {SECONDS:g})")
    print(f"the start of its process, with a line of CSV: {start:.2f} s (goal: under {START_S:g})")
    print(f"characters wrong: {rate:.3%}, {max(rates):.3%} of one document (goal: under {ERROR_RATE:.0%})")
    print(
        f"answers in what the model was given: {served} of {questions} (goal: {FOUND}), {looked_up} looked up"
    )
    print(f"memory of the bot with 20 documents at once: +{grown:.1f} MiB (goal: +{AT_ONCE_MIB:g})")
    for each in missed:
        print(f"  missed: {each}")
    goals = (large < SECONDS, start < START_S, rate < ERROR_RATE, served >= FOUND, grown <= AT_ONCE_MIB)
    return 0 if all(goals) else 1


def main(arguments: Sequence[str]) -> int:
    if arguments:
        print(asyncio.run(read_at_once(Path(arguments[0]))))
        return 0
    return asyncio.run(run())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
