"""What tokens cost."""

from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain.member import MICROS, Price, PriceList
from cc_bot.domain.turn import Usage

TOKENS = st.integers(0, 10**7)


class TestCost:
    def test_is_that_of_a_million_tokens_by_kind(self) -> None:
        price = Price(input=0.25, output=2.0, cached=0.025)
        assert price.of(Usage(prompt_tokens=1_000_000)) == 0.25 * MICROS
        assert price.of(Usage(completion_tokens=1_000_000)) == 2 * MICROS
        assert price.of(Usage(prompt_tokens=1_000_000, cached_tokens=1_000_000)) == 0.025 * MICROS
        assert price.of(Usage(1000, 100, 400)) == 600 * 0.25 + 400 * 0.025 + 100 * 2

    def test_of_sound_is_that_of_its_minutes(self) -> None:
        assert Price(0, 0, per_minute=0.006).of(Usage(seconds=90)) == 0.009 * MICROS
        assert Price(1, 1).of(Usage(seconds=90)) == 0

    def test_of_cached_tokens_is_that_of_any_without_a_price_of_their_own(self) -> None:
        assert Price(1.0, 2.0).of(Usage(1000, 0, 400)) == 1000

    def test_is_nothing_for_a_model_without_a_price(self) -> None:
        prices = PriceList("JPY", {"small": Price(1, 2)})
        assert prices.cost("large", Usage(1000, 1000)) == 0
        assert prices.cost("small", Usage(1000, 1000)) == 3000
        assert (prices.has("large"), prices.has("small")) == (False, True)

    @given(TOKENS, TOKENS, TOKENS)
    def test_is_never_less_than_nothing_whatever_a_server_tells(
        self, prompt: int, cached: int, said: int
    ) -> None:
        assert 0 <= Price(1.5, 3.0, 0.1).of(Usage(prompt, said, cached)) <= 1.5 * prompt + 3 * said + 1
