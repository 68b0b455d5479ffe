"""`cc-bot doctor`: what is wrong with how the program is set up, and how each of it is mended.

It looks, and changes nothing; a bot may run meanwhile. What it is to look at is handed in, and no check lets
another one down: each has its time, and one that breaks is a finding of its own.
"""

from cc_bot.doctor.checkup import (
    Check,
    Finding,
    FindingWriter,
    Report,
    as_json,
    as_lines,
    from_json,
    run_checks,
)

__all__ = ["Check", "Finding", "FindingWriter", "Report", "as_json", "as_lines", "from_json", "run_checks"]
