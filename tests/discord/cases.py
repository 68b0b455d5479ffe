"""A table of examples as one assertion, which names every example that is wrong."""


def check(*cases: tuple[object, object]) -> None:
    """Assert of each pair that what was found is what was expected."""
    assert [case for case in cases if case[0] != case[1]] == []
