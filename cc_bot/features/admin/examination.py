import asyncio
import json
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cc_bot.domain.text import Locale


@dataclass(frozen=True, slots=True)
class Examination:
    variables: Mapping[str, str]

    async def run(self, locale: Locale) -> Sequence[Mapping[str, str]]:
        """Run `cc-bot doctor --json` in a child process, and return its findings in that language; none if
        there is no doctor, or if it broke."""
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "cc_bot", "doctor", "--json"),
            env={**os.environ, **self.variables, "CC_BOT_LOCALE": locale.value},
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=DEVNULL,
        )
        try:
            output, _ = await child.communicate()
            found: Sequence[Mapping[str, str]] = json.loads(output)["checks"]
            return found
        except ValueError:
            return ()
        finally:
            if child.returncode is None:
                child.kill()
                await child.wait()
