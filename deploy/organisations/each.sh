#!/bin/sh
# Runs one command for every organisation on this machine in turn, each with only its own settings as its environment:
#
#   each.sh koppelvlak migrate
#   each.sh koppelvlak log prune --dry-run
#
# An organisation is a file NAME.env with its settings, and a directory secrets/NAME with a file for each secret, named
# after its variable (DATABASE_URL, DATABASE_PRUNE_URL, …). A failure does not stop the others; the exit status is then
# 1.
set -u
directory=${ORGANISATIONS_DIRECTORY:-/etc/koppelvlak}
failed=0
for settings in "$directory"/*.env; do
  name=$(basename "$settings" .env)
  echo "== $name"
  env -i PATH="$PATH" NODE_ENV=production sh -c '
    set -a
    . "$1/$2.env"
    for secret in "$1/secrets/$2"/*; do
      [ ! -f "$secret" ] || export "$(basename "$secret")_FILE=$secret"
    done
    shift 2
    exec "$@"' sh "$directory" "$name" "$@" || { failed=1; echo "== $name: failed" >&2; }
done
exit "$failed"
