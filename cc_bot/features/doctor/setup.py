"""`cc-bot` without a command: asks for a Discord token and a model, tries both, and writes `.env`."""

import asyncio
import os
from base64 import urlsafe_b64decode
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Final

from dotenv import set_key

from cc_bot.chat.checks import Finding
from cc_bot.chat.reply import Reply
from cc_bot.chat.tools import discover_tools
from cc_bot.config import DEFAULT_MODEL, DOTENV, Config, find_dotenv, read_config
from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import CcBotError
from cc_bot.features.doctor.checks import SIGNS
from cc_bot.features.doctor.services import check_discord, check_models
from cc_bot.features.doctor.texts import SetupTexts
from cc_bot.terminal.view import RichView
from cc_bot.texts import Texts, explain, texts

Say = Callable[[str], None]
Settings = Mapping[str, str]
Questions = Mapping[str, Callable[[Settings], str]]  # by setting; each asks the user, given earlier answers
INVITE_URL: Final = (
    "https://discord.com/oauth2/authorize?client_id={id}&scope=bot+applications.commands"
    "&permissions=274878024704"  # the permissions that docs/discord.md lists
)


def run_setup(config: Config, say: Say, ask_consent: Callable[[str], bool]) -> str:
    """Return the command to run next."""
    words = texts(config.operator_locale)
    prompts = words[SetupTexts]
    token_questions: Questions = {"DISCORD_TOKEN": lambda _: view.ask(prompts.token, secret=True)}
    model = prompts.model.format(default=DEFAULT_MODEL)
    model_questions: Questions = {
        "OPENAI_BASE_URL": lambda _: view.ask(prompts.server),
        "OPENAI_API_KEY": lambda _: view.ask(prompts.key, secret=True),
        "CC_BOT_MODEL": lambda answers: view.ask(model) if any(answers.values()) else "",
    }
    view, needs_model = RichView(), not (config.openai_api_key or config.openai_base_url)
    steps = 3 if needs_model else 2
    try:
        view.say(prompts.token_wanted.format(steps=steps))
        view.show_reply(Reply(), prompts.token_keys)
        settings = _ask_until_valid(token_questions, _check_token, words, view)
        if needs_model:
            view.say(prompts.model_wanted)
            settings = {**settings, **_ask_until_valid(model_questions, _check_model, words, view)}
        if settings and not _save(settings, prompts, say, ask_consent):
            os.environ.update(settings)
        if bot_id := _read_bot_id(settings.get("DISCORD_TOKEN", "")):
            view.say(f"\n{prompts.invite.format(steps=steps, url=INVITE_URL.format(id=bot_id))}")
    except EOFError:
        say("")
        raise KeyboardInterrupt from None
    return "run" if "DISCORD_TOKEN" in settings else "chat"


def _ask_until_valid(
    questions: Questions,
    check: Callable[[Config, Texts], Coroutine[Any, Any, Sequence[Finding]]],
    words: Texts,
    view: RichView,
) -> Settings:
    """Ask for the settings, and again for those that fail the check. Returns {} if all answers are empty."""
    settings, wrong = dict[str, str](), set(questions)
    while True:
        before = dict(settings)
        for name in filter(wrong.__contains__, questions):
            settings[name] = questions[name](settings)
        is_unchanged = settings == before and not any(settings[name] for name in wrong)
        if is_unchanged or not any(value for name, value in settings.items() if name != "CC_BOT_MODEL"):
            return {}
        view.say(words[SetupTexts].checking)
        try:
            findings = asyncio.run(check(read_config({**os.environ, **settings}), words))
        except CcBotError as error:
            setting = str(error.params.get("name"))
            findings = [Finding("settings", "failed", explain(error, words), setting=setting)]
        for each in findings:
            sentence = f"{SIGNS[each.verdict]} {each.detail}" + (f"\n  → {each.fix}" if each.fix else "")
            view.say(sentence, style="" if each.verdict == "ok" else "yellow")
        failures = [each for each in findings if each.verdict == "failed"]
        if not failures:
            return {name: value for name, value in settings.items() if value}
        wrong = {each.setting for each in failures} & questions.keys() or set(questions)


async def _check_token(config: Config, words: Texts) -> Sequence[Finding]:
    async def no_commands() -> tuple[str, ...]:
        return ()  # the start registers them

    return (await check_discord(config, words, no_commands, utc_now))[:1]


async def _check_model(config: Config, words: Texts) -> Sequence[Finding]:
    return await check_models(config, words, (), discover_tools().schemas(), offline=False)


def _read_bot_id(token: str) -> str:
    """Return the first part of a token, decoded; "" if that is not an id."""
    try:
        bot_id = urlsafe_b64decode(token.partition(".")[0] + "==").decode()
    except ValueError:
        return ""
    return bot_id if bot_id.isdecimal() else ""


def _save(settings: Settings, prompts: SetupTexts, say: Say, ask_consent: Callable[[str], bool]) -> bool:
    """Write the settings to `.env`, which then only its owner can read."""
    existing = find_dotenv(DOTENV)
    path = (existing or DOTENV).resolve()
    if existing and not ask_consent(prompts.add_to_file.format(path=path)):
        return False
    try:
        path.touch(mode=0o600)
        path.chmod(0o600)
        for name, value in settings.items():
            set_key(path, name, value, quote_mode="auto")
    except (OSError, ValueError):  # or the file is not UTF-8
        say(prompts.not_saved.format(path=path))
        return False
    say(prompts.saved.format(path=path))
    return True
