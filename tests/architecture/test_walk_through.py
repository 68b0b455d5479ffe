import json
import re
import shutil
from pathlib import Path
from typing import Final

import pytest

import cc_bot

pytestmark = pytest.mark.slow

SOURCE: Final = Path(str(cc_bot.__file__)).parent
FILE: Final = re.compile(r"^```python\n# (\w+\.py)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


async def test_a_feature_of_sixty_lines_works_on_discord_for_the_model_and_in_the_terminal(
    tmp_path: Path,
) -> None:
    from tests.architecture.help import all_commands
    from tests.end_to_end.stage import set_stage  # whose folder has pytest rewrite it first
    from tests.loopback.model_server import Call, calls, new_tool_results, says

    page = (SOURCE.parent / "docs" / "layout.md").read_text("utf-8")
    files = dict(FILE.findall(page.partition("## Add a feature")[2]))
    assert sum(len(code.splitlines()) for code in files.values()) <= 60
    copy = tmp_path / "cc_bot"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    folder, listed = copy / "features" / "dice", copy / "features" / "__init__.py"
    folder.mkdir()
    for name, code in {"__init__.py": "", **files}.items():
        (folder / name).write_text(code, "utf-8")
    known = listed.read_text("utf-8")
    listed.write_text(
        known.replace('    Feature("admin"),\n', '    Feature("admin"),\n    Feature("dice"),\n'), "utf-8"
    )
    async with set_stage(tmp_path, {"CC_BOT_EMBEDDING_MODEL": "off"}) as stage:
        stage.program.from_nothing = True
        await stage.start()
        user, channel = stage.discord.user("Aiko", locale="ja"), stage.discord.guild_channel()
        assert re.search("[1-6]", await stage.told(user, channel, "dice"))
        assert re.search("[12]", await stage.told(user, channel, "dice", sides=2))
        assert "/さいころ" in await all_commands(stage, user, channel)
        stage.model.script(calls(Call("roll_die", {"sides": 2})), says("出ました。"))
        await stage.ask(user, channel, "さいころを振って")
        [rolled] = new_tool_results(stage.model.requests[-1].body)
        assert json.loads(rolled)["number"] in (1, 2)
        await stage.program.stop()
        code, output = await stage.program.run("chat", stdin=b"/dice\n")
        assert code == 0, output
        assert re.search("🎲 [1-6]", output)
        assert "🎲" not in (await stage.program.run("chat", stdin=b"/dice abc\n"))[1]
        for name, right, wrong in (
            ("terminal.py", "COMMANDS =", "COMANDS ="),
            ("texts.py", "= Sentence(", "= dict("),
        ):
            (folder / name).write_text(files[name].replace(right, wrong), "utf-8")
            code, output = await stage.program.run("chat", stdin=b"/dice\n")
            assert (code, output.count("\n")) == (1, 1), output
            assert str(folder / name) in output
            (folder / name).write_text(files[name], "utf-8")
