"""The chains of models that agents name, each made once and kept: making a client takes over 100 ms."""

from collections.abc import Callable, Sequence

from cc_bot.llm.model import ChatModel


class Chains:
    def __init__(self, make: Callable[[Sequence[str]], ChatModel], default: tuple[str, ...]) -> None:
        """`default`: the chain of those that name none."""
        self._make = make
        self._default = default
        self._made: dict[tuple[str, ...], ChatModel] = {}

    def of(self, names: tuple[str, ...]) -> ChatModel:
        """The chain of these models, the preferred one first; without any, the default one."""
        names = names or self._default
        if names not in self._made:
            self._made[names] = self._make(names)
        return self._made[names]

    async def close(self) -> None:
        for model in self._made.values():
            await model.close()
