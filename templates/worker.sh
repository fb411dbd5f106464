#!/bin/sh
# Starts a worker in a container: a clone of the repository that stays, the key that all machines share, then `detent work` until it is stopped.
set -eu

repository=${WORKER_REPOSITORY:?set WORKER_REPOSITORY to the address that the repository is cloned from}
key=${WORKER_KEY:-/run/secrets/journal-key}
folder=$HOME/repository
state=${XDG_STATE_HOME:-$HOME/.local/state}/detent

mkdir -p "$state"
chmod 700 "$state"
if [ -f "$key" ]; then
    install -m 600 "$key" "$state/journal-key"
fi
if [ -d "$folder/.git" ]; then
    git -C "$folder" pull --quiet --ff-only || echo "detent-worker: the clone could not be brought up to date; it is used as it is" >&2
else
    git clone --quiet "$repository" "$folder"
fi
exec detent -C "$folder" work ${WORKER_SLOTS:+--slots "$WORKER_SLOTS"}
