"""What the file decides at this moment. Whoever began something holds the value that they began with."""

from functools import partial
from pathlib import Path

from cc_bot.domain.errors import InvalidPolicy
from cc_bot.domain.limits import Rules
from cc_bot.domain.locale import Locale
from cc_bot.domain.policy import Policy
from cc_bot.operator_file import FileKind, OperatorFile
from cc_bot.policy.parsing import parse_policy
from cc_bot.texts import texts


class Policies:
    """The policy of a file; without a file, nothing is decided there."""

    def __init__(self, path: Path, *, locale: Locale, required: bool = False) -> None:
        """What is wrong with the file is told in `locale`. `required`: the operator named the file, so its
        absence is a mistake."""
        words = texts(locale)
        kind = FileKind("policy", "CC_BOT_POLICY_FILE", partial(parse_policy, words=words), InvalidPolicy)
        self._file = OperatorFile[Policy](path, kind, words.operator_file, required=required)

    async def load(self) -> Policy:
        """Read the file for the first time. Raises InvalidPolicy."""
        return await self._file.load()

    async def now(self) -> Policy:
        return await self._file.now()

    async def limits(self) -> Rules:
        """Those of now."""
        return (await self._file.now()).limits
