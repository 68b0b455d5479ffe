"""Every screen that users see, as PNG files: `python -m scripts.shots OUT [--only pages …] [--locale ja en]`.

Run it before and after a change, and compare. The program is real, the data is of `ja.toml` and `en.toml`;
a screen that can't be drawn is reported, and the others are. `--only demo` draws the pictures of the
documentation. Chromium needs the fonts Noto Sans CJK and Noto Color Emoji.
"""
