"""Asking a model for one token: whether it can be reached, knows the key, and takes questions at all."""

import asyncio
from typing import Final

from openai import AsyncOpenAI, AsyncStream, BadRequestError, UnprocessableEntityError

from cc_bot.domain.errors import ModelUnavailable
from cc_bot.llm.chat_messages import Json
from cc_bot.llm.openai.client import FAILURES, diagnose, open_client

_SHORT: Final[tuple[Json, ...]] = ({"max_completion_tokens": 1}, {"max_tokens": 1}, {})
"""How servers are told to be brief, each in its way; models that think first take neither of the two. The
connection is closed after the first piece, so that even then little is paid for."""


async def reach(model: str, *, api_key: str | None, base_url: str | None, timeout_s: float) -> None:
    """Raises the ModelError that a turn would raise. Nothing is asked again."""
    client = open_client(api_key=api_key, base_url=base_url, timeout_s=timeout_s, max_retries=0)
    try:
        async with asyncio.timeout(timeout_s):
            heard = await _asked(client, model)
    except FAILURES as error:
        raise diagnose(error, model).error from None
    finally:
        await client.close()
    if not heard:
        raise ModelUnavailable


async def _asked(client: AsyncOpenAI, model: str) -> bool:
    """Whether anything came."""
    for number, short in enumerate(_SHORT):
        try:
            return await _first_piece(client, model, short)
        except (BadRequestError, UnprocessableEntityError) as error:
            last = number == len(_SHORT) - 1
            if last or not any(word in error.message for word in ("max_tokens", "max_completion_tokens")):
                raise
    raise AssertionError("the last way returns or raises")


async def _first_piece(client: AsyncOpenAI, model: str, short: Json) -> bool:
    body = {"model": model, "messages": [{"role": "user", "content": "ok"}], "stream": True, **short}
    chunks = await client.post(
        "/chat/completions", cast_to=object, body=body, stream=True, stream_cls=AsyncStream[object]
    )
    async with chunks:
        async for _ in chunks:
            return True
    return False
