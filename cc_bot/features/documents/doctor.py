from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Final

from cc_bot.chat.checks import Check, CheckContext, Finding, failed, off, ok, warning
from cc_bot.domain.errors import DocumentsNotConfined, InputError
from cc_bot.features.documents.reader import EXTRA_MODULES, DocumentReader
from cc_bot.features.documents.texts import DocumentCheckTexts
from cc_bot.texts import Texts

SMALL_PDF: Final = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 99]/Contents 4 0 R/Resources<</Font<</F<</Type/Font"
    b"/Subtype/Type1/BaseFont/Helvetica>>>>>>>>endobj\n4 0 obj<</Length 66>>stream\n"
    b"BT /F 12 Tf 9 50 Td (A page that the checkup has read.) Tj ET      \nendstream endobj\n"
    b"trailer<</Root 1 0 R>>\n%%EOF"
)
SMALL_TABLE: Final = b"a,b\n1,2\n"


def list_checks(given: CheckContext) -> Iterator[Check]:
    words, unconfined = given.words[DocumentCheckTexts], given.config.read_unconfined
    reading = check_documents(DocumentReader(unconfined=unconfined), given.words)
    yield Check("documents", reading, label=words.documents)
    confined = check_sandbox(DocumentReader(), given.words, unconfined=unconfined)
    yield Check("sandbox", confined, label=words.sandbox)


async def check_documents(reader: DocumentReader, texts: Texts) -> Sequence[Finding]:
    words = texts[DocumentCheckTexts]
    if not all(map(find_spec, EXTRA_MODULES)):
        return [off("documents", words.documents_none)]
    try:
        await reader.read(SMALL_PDF)
    except DocumentsNotConfined:  # reported by check_sandbox
        return []
    except InputError:
        return [failed("documents", words.documents_failed)]
    return [ok("documents", words.documents_ok)]


async def check_sandbox(reader: DocumentReader, texts: Texts, *, unconfined: bool) -> Finding:
    words = texts[DocumentCheckTexts]
    try:
        await reader.read(SMALL_TABLE)
    except DocumentsNotConfined:
        return warning("sandbox", words.sandbox_off if unconfined else words.sandbox_none)
    except InputError:
        return failed("sandbox", words.documents_failed)
    return ok("sandbox", words.sandbox_ok)
