"""What is wrong with a file that its operator wrote, whatever it is for."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OperatorFileTexts:
    missing: str
    """Parameter: variable (the setting that names the file)."""
    unreadable: str
    no_file: str
    too_large: str
    """Parameter: limit (KB)."""
    not_utf8: str
    not_toml: str
    """Parameter: problem (of Python's parser, in English, with line and column)."""


JA = OperatorFileTexts(
    missing="{variable} で指定されたファイルがありません。作成するか、指定を直してください。",
    unreadable="ファイルを開けません。読み取りの権限を確かめてください。",
    no_file="ふつうのファイルではありません（フォルダやパイプなどです）。ファイルを置いてください。",
    too_large="ファイルが大きすぎます（{limit} KB まで）。",
    not_utf8="文字コードを UTF-8 にして保存し直してください。",
    not_toml="TOML として読めないところがあります: {problem}",
)

EN = OperatorFileTexts(
    missing="The file that {variable} names does not exist. Create it or correct the setting.",
    unreadable="It can't be opened. Check the permission to read it.",
    no_file="It is no ordinary file but a folder, a pipe or the like. Put a file there.",
    too_large="It is too large (up to {limit} KB).",
    not_utf8="Save it in UTF-8.",
    not_toml="It is not valid TOML: {problem}",
)
