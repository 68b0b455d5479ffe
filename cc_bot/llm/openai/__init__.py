"""The way to OpenAI, and to any server that speaks as it does; the only place that knows its client."""

from cc_bot.llm.openai.chat import OpenAIChatModel
from cc_bot.llm.openai.client import reach
from cc_bot.llm.openai.embeddings import OpenAIEmbedder
from cc_bot.llm.openai.speech import OpenAISpeaker, OpenAITranscriber

__all__ = ["OpenAIChatModel", "OpenAIEmbedder", "OpenAISpeaker", "OpenAITranscriber", "reach"]
