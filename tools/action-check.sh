#!/usr/bin/env bash
# What the action runs: one check, with annotations, the step summary, and SARIF where it is wanted. Its exit code is the answer.
set -uo pipefail

detent=${DETENT:-$RUNNER_TEMP/detent/bin/detent}
range=()
# On the first push of a branch there is no commit before it; then the range is what the branch has over main.
if [ -n "${BASE:-}" ] && [ -n "${BASE//0/}" ]; then range=("$BASE..HEAD"); fi

$detent check "${range[@]}" --github --budget "$BUDGET" --fail-on "$FAIL_ON"
code=$?

# Found before for the same trees, so this takes a moment.
answer=$($detent check "${range[@]}" --budget "$BUDGET" --json | python3 -c 'import json, sys; print(json.load(sys.stdin).get("answer", "error"))')
echo "answer=$answer" >>"$GITHUB_OUTPUT"
if [ -n "${SARIF:-}" ]; then $detent check "${range[@]}" --budget "$BUDGET" --sarif >"$SARIF"; fi
exit "$code"
