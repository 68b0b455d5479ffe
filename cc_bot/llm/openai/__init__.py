"""OpenAI, and any server that speaks as it does."""

from cc_bot.llm.openai.chat import OpenAIChatModel
from cc_bot.llm.openai.embeddings import OpenAIEmbedder
from cc_bot.llm.openai.speech import OpenAISpeaker, OpenAITranscriber

__all__ = ["OpenAIChatModel", "OpenAIEmbedder", "OpenAISpeaker", "OpenAITranscriber"]
