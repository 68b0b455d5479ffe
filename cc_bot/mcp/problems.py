"""The reason why a server is away, as far as it can be told without a word of the file or of the server."""

from cc_bot.domain.tool_server import ToolServerProblem
from cc_bot.mcp.http import HttpWay
from cc_bot.mcp.process import ServerProcess


def problem_of(error: Exception | None, way: ServerProcess | HttpWay | None) -> ToolServerProblem:
    """Return why a server is away, by what a connection to it ended with; None: it was closed."""
    if isinstance(way, ServerProcess) and way.code is not None:
        return ToolServerProblem("ended", str(way.code))
    if error is None:
        return ToolServerProblem("closed")
    match _innermost(error):
        case ConnectionRefusedError():
            return ToolServerProblem("refused")
        case TimeoutError():
            return ToolServerProblem("late")
        case cause:
            return ToolServerProblem("error", type(cause).__name__)


def _innermost(error: Exception) -> Exception:
    """Follow an error to where it began; of several at once, to the first."""
    inner = error.exceptions[0] if isinstance(error, ExceptionGroup) else error.__cause__
    if inner is None and isinstance(error.__context__, OSError):  # the HTTP client hides it
        inner = error.__context__
    return _innermost(inner) if isinstance(inner, Exception) else error
