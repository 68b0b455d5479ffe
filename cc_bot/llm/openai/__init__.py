from cc_bot.llm.openai.chat import OpenAIChatModel
from cc_bot.llm.openai.endpoints import OpenAIEmbedder, OpenAISpeaker, OpenAITranscriber

__all__ = ["OpenAIChatModel", "OpenAIEmbedder", "OpenAISpeaker", "OpenAITranscriber"]
