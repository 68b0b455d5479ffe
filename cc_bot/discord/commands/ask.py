"""`/ask`: a question, files, and who may see the answer."""

from functools import partial

import hikari
import lightbulb

from cc_bot.assistant.assistant import MAX_QUESTION_CHARACTERS
from cc_bot.discord.agents import Preloaded
from cc_bot.discord.attachments import asked_file
from cc_bot.discord.declaring import command, file_option, switch_option, text_option
from cc_bot.discord.delivery.answers import Answers
from cc_bot.discord.interactions import author_name, own_space
from cc_bot.discord.messages.arrivals import ProactiveMessageQuotes
from cc_bot.discord.messages.forwards import Forwards
from cc_bot.domain.turn import AskedQuestion
from cc_bot.texts.area import without_mentions

loader = lightbulb.Loader()


@command(loader.command, "ask")
class AskCommand:
    question = text_option("ask_question", max_length=MAX_QUESTION_CHARACTERS)
    attachment = file_option("ask_attachment", default=None)
    attachment2 = file_option("ask_attachment2", default=None)
    attachment3 = file_option("ask_attachment3", default=None)
    attachment4 = file_option("ask_attachment4", default=None)
    attachment5 = file_option("ask_attachment5", default=None)
    private = switch_option("ask_private", default=False)
    temporary = switch_option("ask_temporary", default=False)

    async def invoke(
        self,
        ctx: lightbulb.Context,
        *,
        answers: Answers,
        arrival: Preloaded,
        quotes: ProactiveMessageQuotes,
        forwards: Forwards,
    ) -> None:
        question = partial(self._question, ctx.interaction, quotes, forwards)
        ephemeral = self.private or self.temporary
        try:
            await answers.ask(
                ctx.interaction, question, arrival, ephemeral=ephemeral, temporary=self.temporary
            )
        finally:
            forwards.release(int(ctx.interaction.id))

    async def _question(
        self, interaction: hikari.CommandInteraction, quotes: ProactiveMessageQuotes, forwards: Forwards
    ) -> AskedQuestion:
        text, waiting = without_mentions(self.question).strip(), tuple[int, ...]()
        if own_space(interaction):
            user_id, channel_id = int(interaction.user.id), int(interaction.channel_id)
            text = await quotes.quote_last(user_id, channel_id, text)
            waiting = await forwards.take(channel_id, user_id, int(interaction.id))
        given = (self.attachment, self.attachment2, self.attachment3, self.attachment4, self.attachment5)
        files = tuple(map(asked_file, filter(None, given)))
        return AskedQuestion(text, author_name(interaction), files, forwards=waiting)
