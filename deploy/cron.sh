#!/bin/sh
# Uploads data files at fixed times. Copy it to /etc/gridline/cron.sh, and set below what it uploads. Then, in the
# crontab of a user of its own (crontab -e):
#
# MAILTO=you@example.com
# 15 3 * * *  /etc/gridline/cron.sh
#
# The settings are in /etc/gridline/env, which only that user can read (chmod 600):
#   GRIDLINE_URL=https://charts.example.com
#   GRIDLINE_USER=ci
#   GRIDLINE_API_KEY=…
#
# It prints nothing if all is well, and otherwise warnings about how files were read, and errors, which cron mails. A run
# that takes longer than the time to the next one is not started twice, and is ended after an hour. A server that cannot
# be reached is tried again for ten minutes.
set -eu

# cron has a short PATH.
PATH=/usr/local/bin:/usr/bin:/bin:${HOME:=/}/.local/bin
export HOME
set -a
. "$(readlink -f "${GRIDLINE_ENV:-/etc/gridline/env}")"
set +a

# The lock is on this script itself, so that nobody else can hold it.
exec 9<"$0"
flock -n 9 || exit 0

# Add rows by a key column, or replace the grids, as here.
upload() {
  # Names without spaces, or directories.
  timeout "${GRIDLINE_CRON_SECONDS:-3600}" \
    gridline upload --on-conflict replace --quiet -- ${GRIDLINE_FILES:-/srv/data} >/dev/null
}

tries=0
until upload; do
  code=$?
  [ $code -ne 124 ] || echo "error: the upload was ended, since it took too long" >&2
  # 9: the server cannot be reached, or is overloaded. Other failures do not pass by waiting.
  [ $code -eq 9 ] && [ $tries -lt "${GRIDLINE_TRIES:-5}" ] || exit 1
  tries=$((tries + 1))
  sleep $((tries * 40))
done
