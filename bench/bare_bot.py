"""A bot on hikari and lightbulb that answers `/ask` with the same sentence always: the floor of a bot.

That is one request to Discord. With `BARE_BOT=deferred` it acknowledges first and edits the answer in, as
every bot has to whose answer a model makes.
"""

import os

import hikari
import lightbulb

ANSWER = "よく晴れています。洗濯物もよく乾くでしょう。"


def main() -> None:
    bot = hikari.GatewayBot(
        os.environ["DISCORD_TOKEN"],
        banner=None,
        logs=None,
        suppress_optimization_warning=True,
        intents=hikari.Intents.GUILDS | hikari.Intents.GUILD_MESSAGES | hikari.Intents.DM_MESSAGES,
        rest_url=os.environ["DISCORD_API_URL"],
        http_settings=hikari.impl.HTTPSettings(force_close_transports=False),
    )
    client = lightbulb.client_from_app(bot)
    deferred = os.environ.get("BARE_BOT") == "deferred"

    @client.register
    class Ask(lightbulb.SlashCommand, name="ask", description="Answers"):
        question = lightbulb.string("question", "What to answer")

        @lightbulb.invoke
        async def invoke(self, ctx: lightbulb.Context) -> None:
            if deferred:
                await ctx.defer()
                await ctx.interaction.edit_initial_response(ANSWER)
            else:
                await ctx.respond(ANSWER)

    bot.subscribe(hikari.StartingEvent, client.start)
    bot.run(check_for_updates=False)


if __name__ == "__main__":
    main()
