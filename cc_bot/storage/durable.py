"""Files that are there, whole, after a power cut: written, made to reach the disk, and only then named.

A rename is done at once or not at all, but what it names may still be on its way to the disk, and so may the
name. So the file is synced before it, and the folder after it.
"""

import os
import secrets
from contextlib import suppress
from pathlib import Path


def sync_file(path: Path) -> None:
    """Have what was written to the file reach the disk. Raises OSError."""
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Have the names in a folder reach the disk, where the system can: Windows opens no folders."""
    with suppress(PermissionError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def move(source: Path, target: Path) -> None:
    """Give a file, which has reached the disk, its name for good, whatever had it before. Raises OSError."""
    source.replace(target)
    sync_folder(target.parent)


def write_new(path: Path, content: bytes) -> bool:
    """Make a file with mode 0600, whole from its first moment. False when there is one. Raises OSError."""
    partial = _written_beside(path, content)
    try:
        os.link(partial, path)
    except FileExistsError:
        return False
    finally:
        partial.unlink(missing_ok=True)
    sync_folder(path.parent)
    return True


def write_over(path: Path, content: bytes) -> None:
    """Make a file with mode 0600 in the place of what has its name. Raises OSError."""
    partial = _written_beside(path, content)
    try:
        move(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def append(path: Path, lines: bytes) -> None:
    """Add whole lines to a file in one write. What a crash left of a line stays a line of its own. Raises
    OSError."""
    with path.open("ab+", buffering=0) as file:
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                lines = b"\n" + lines
        if file.write(lines) < len(lines):
            raise OSError("the disk took a part of the lines only")
        os.fsync(file.fileno())


def _written_beside(path: Path, content: bytes) -> Path:
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    partial.touch(mode=0o600, exist_ok=False)
    try:
        partial.write_bytes(content)
        sync_file(partial)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    return partial
