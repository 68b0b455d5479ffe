"""What is wrong with the file of limits, prices and access, as its operator reads of it. What is to be written
stands there as it would in the file."""

from dataclasses import dataclass

from cc_bot.domain.limits import LARGEST


@dataclass(frozen=True, slots=True)
class PolicyFileTexts:
    other_table: str
    """Parameter: key."""
    not_a_table: str
    """Parameter: name."""
    bad_id: str
    """Parameter: name."""
    unknown_key: str
    """Parameters: name, key, keys."""
    wrong: str
    """Parameters: name, key, expected."""
    limit: str
    price: str
    currency: str
    ids: str


JA = PolicyFileTexts(
    other_table="{key} は知らないキーです。使えるのは [limits]、[prices]、[access] の表です。",
    not_a_table="{name} は表にしてください（[{name}] の下に書きます）。",
    bad_id='[{name}]: Discord の ID を数字で書いてください（例: [limits.users."123456789012345678"]）。',
    unknown_key="[{name}] の {key} は知らないキーです。使えるキー: {keys}",
    wrong="[{name}] の {key} を直してください。正しい書き方: {expected}",
    limit=f'1 から {LARGEST} までの整数、または "unlimited"（制限なし）',
    price="100万トークンあたりの値段（0 以上の数）。input と output は必ず書きます",
    currency='currency = "JPY"（3文字の通貨コード）',
    ids="[123456789012345678]（ID のリスト）",
)

EN = PolicyFileTexts(
    other_table="{key} is not a known key. There are the tables [limits], [prices] and [access].",
    not_a_table="{name} has to be a table (its keys stand under [{name}]).",
    bad_id='[{name}]: write an id of Discord in digits, as in [limits.users."123456789012345678"].',
    unknown_key="[{name}] has a key that is not known: {key}. The keys are: {keys}",
    wrong="[{name}] {key} is not as it should be. Write it like this: {expected}",
    limit=f'a whole number from 1 to {LARGEST}, or "unlimited"',
    price="the price of a million tokens (a number from 0); input and output have to be there",
    currency='currency = "USD" (a currency code of three letters)',
    ids="[123456789012345678] (a list of ids)",
)
