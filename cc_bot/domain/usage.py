"""What was used: tokens, and what they cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from cc_bot.domain.events import Usage
from cc_bot.domain.measures import Purpose

MICROS: Final = 1_000_000
"""Of the currency in one: costs are counted in whole millionths, so that sums are exact."""


@dataclass(frozen=True, slots=True)
class Price:
    """Of a million tokens, in the currency of the price list."""

    input: float
    output: float
    cached: float | None = None
    """Of those of the prompt that the server had in its cache; None: as any other."""

    def of(self, usage: Usage) -> int:
        """In millionths of the currency: a price of a million tokens is that of one token in millionths."""
        cached = min(usage.cached_tokens, usage.prompt_tokens)
        fresh = usage.prompt_tokens - cached
        cheaper = self.input if self.cached is None else self.cached
        return round(fresh * self.input + cached * cheaper + usage.completion_tokens * self.output)


@dataclass(frozen=True, slots=True)
class PriceList:
    currency: str = "USD"
    models: Mapping[str, Price] = field(default_factory=dict)
    """By the names that requests ask for."""

    def cost(self, model: str, usage: Usage) -> int:
        """In millionths of the currency; nothing where the model has no price."""
        price = self.models.get(model)
        return price.of(usage) if price else 0

    def has(self, model: str) -> bool:
        return model in self.models


@dataclass(frozen=True, slots=True)
class Spent:
    """What one model was asked for."""

    model: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class Used:
    """What was used on one day, of one model, for one purpose."""

    day: date
    model: str
    purpose: Purpose | None
    """None: for any."""
    turns: int
    usage: Usage
    cost_micros: int

    @property
    def tokens(self) -> int:
        return self.usage.prompt_tokens + self.usage.completion_tokens
