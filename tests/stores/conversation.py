from datetime import UTC, datetime

from cc_bot.chat.stores.opening import Stores
from cc_bot.db import Database
from cc_bot.domain.message import Attachment, Document, DocumentPart, Heading
from cc_bot.domain.session import SessionKey
from tests.stores.backends import KEY, contents, turn

START = datetime(2026, 11, 22, 3, 4, 5, tzinfo=UTC)
CAT = Attachment("猫.png", "image/png", b"\x89PNG\0\xff")
REPORT = Attachment(
    "報告.pdf",
    "application/pdf",
    b"%PDF-1.7 and so on",
    Document(
        "pdf", "page", (DocumentPart("", "一枚目"), DocumentPart("続き", "二枚目")), (Heading("章", 2),)
    ),
)
NOTE = Attachment("メモ.txt", "text/plain", "牛乳を買う".encode())


async def say(stores: Stores, *texts: str, key: SessionKey = KEY) -> None:
    for text in texts:
        session = await stores.sessions.open(key)
        await stores.sessions.commit_turn(session, turn(text))


async def heard(stores: Stores, key: SessionKey = KEY) -> list[str]:
    return contents((await stores.sessions.open(key)).history)


async def attachments_kept(database: Database) -> int:
    [(number,)] = await database.query("SELECT count(*) FROM attachments")
    return int(number)
