"""The pictures of the documentation, made from the running program: `python -m scripts.demo docs`.

The bot runs between the loopback Discord and the loopback model of `tests/loopback`. What the model says is
in `ja.toml` and `en.toml`; what the bot does and shows is its own. Chromium draws it; it needs
the fonts Noto Sans CJK and Noto Color Emoji.
"""
