from cc_bot.llm.openai.chat import OpenAIChatModel
from cc_bot.llm.openai.client import OpenAIEmbedder, OpenAISpeaker, OpenAITranscriber

__all__ = ["OpenAIChatModel", "OpenAIEmbedder", "OpenAISpeaker", "OpenAITranscriber"]
