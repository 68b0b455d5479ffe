import os
import socket
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

NULL: Final = Path("/dev/null")


def _bound(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener, TemporaryDirectory() as folder:
        listener.bind(f"{folder}/bound")  # what is bound has a hundred bytes at most
        Path(f"{folder}/bound").rename(path)


NO_FILES: Final[dict[str, Callable[[Path], None]]] = {
    "a device": lambda path: path.symlink_to(NULL),
    "a folder": Path.mkdir,
    "a pipe": os.mkfifo,  # which nobody will ever write into
    "a socket": _bound,
}
