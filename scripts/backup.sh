#!/bin/sh
# Backs the database up: for cron and other timers. The copy is made by `cc-bot backup`, which uses SQLite's
# own online copy and checks it; a file copy of a database in use would not be one.
#
#   15 4 * * *  /path/to/cc-bot/scripts/backup.sh --to /path/to/backups --keep 14
#
# --keep is how many are kept; without it, all are. docs/backup.md tells more.
#
# Every argument goes to `cc-bot backup`. The script runs in the project's folder, as `make run` does, so that
# .env and data/ are the same: relative paths count from there. Its exit code is that of `cc-bot backup`, or
# 127 when the program is not to be found. The sqlite3 program is not needed.
set -eu

self=$0
while [ -L "$self" ]; do # a link in /etc/cron.daily still leads to the project
    target=$(readlink "$self")
    case $target in
        /*) self=$target ;;
        *) self=$(dirname "$self")/$target ;;
    esac
done
project=$(CDPATH='' cd -- "$(dirname -- "$self")/.." && pwd -P)
cd "$project"
umask 077

program=
for candidate in .venv/bin/cc-bot .venv/Scripts/cc-bot.exe; do
    if [ -x "$candidate" ]; then
        program=./$candidate
        break
    fi
done
if [ -z "$program" ]; then
    program=$(command -v cc-bot) || {
        echo "backup.sh: no cc-bot in $project/.venv nor on PATH. Run 'make run' once in $project." >&2
        exit 127
    }
fi

code=0
"$program" backup "$@" || code=$?
if [ "$code" -ne 0 ]; then
    echo "backup.sh: THE BACKUP IS NOT AS IT SHOULD BE: '$program backup' in $project ended with exit code $code" >&2
fi
exit "$code"
