#!/bin/sh
# Runs one command for every organisation of this machine, one after the other, each with its own settings and nothing else of the environment:
#
#   each.sh koppelvlak migrate
#   each.sh koppelvlak log prune --dry-run
#
# An organisation is a file NAME.env with its settings and a directory secrets/NAME with a file for each secret, named as its variable
# (DATABASE_URL, DATABASE_PRUNE_URL, …). The exit status is 1 when the command failed for one of them; the others are run all the same.
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
