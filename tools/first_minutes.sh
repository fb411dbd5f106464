#!/bin/sh
# The first minutes of somebody who has python3 and git, timed: install the wheel, check a change, set a project up, be held at a first step.
# The agent is scripted: it writes a plan and a test, and hands each in. docs/first-steps.md has what it took, and the commands around this.
#
#   sh first_minutes.sh install WHEEL       install Detent, as the README says; needs root, for apt-get
#   sh first_minutes.sh use CLONE [RANGE]   check RANGE of a clone (its last commit), set it up, one gated step; the clone is changed
set -eu

at=
total=0

# One step: what it is called, then the command. Its seconds are printed; if it fails, so is everything it said.
step() {
    title=$1
    shift
    at=$(date +%s%N)
    if ! said=$("$@" 2>&1); then
        printf '%s\nfailed: %s\n' "$said" "$title" >&2
        exit 1
    fi
    took=$((($(date +%s%N) - at) / 100000000))
    total=$((total + took))
    printf '%4d.%d s  %s\n' $((took / 10)) $((took % 10)) "$title"
    if [ -n "${SHOW-}" ]; then printf '%s\n' "$said" | sed 's/^/            /'; fi
}

get_pipx() {
    apt-get -qq update
    DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends pipx
}

# The project's own environment, with what its tests need.
prepare() {
    [ -x .venv/bin/python ] || python3 -m venv .venv
    .venv/bin/python -c 'import pytest' 2>/dev/null || .venv/bin/pip -q install -e . pytest
}

check() {
    detent check "$range" || [ $? = 10 ] # 10: a person should look at something; that is an answer too
}

set_up() {
    detent init --entry "$entry"
    git add detent.toml docs/plan.md
    git commit -qm 'Set up Detent'
}

begin() {
    detent start
    detent get-task
}

# What an agent does until its first step is judged.
agent() {
    cat >ACTIVE_PR.json <<JSON
{"masterPlanPath": "docs/plan.md", "prTitle": "$entry", "summary": "a name for it", "verificationPlan": "the tests",
 "tasks": [{"taskName": "the name", "status": "TODO", "tdd_steps": [
  {"type": "RED", "description": "the name is asked for", "status": "TODO"},
  {"type": "GREEN", "description": "the name is there", "status": "TODO"}]}]}
JSON
    detent submit-work --summary "the plan"
    detent get-task
    cat >tests/test_first_name.py <<PYTHON
import unittest


class FirstName(unittest.TestCase):
    def test_it_has_a_name(self):
        import $package as project

        self.assertEqual(project.FIRST_NAME, "detent")
PYTHON
    runner=$(sed -n 's/^command = "\(.*\)"$/\1/p' detent.toml)
    detent submit-work --summary "a test of the name" --test-command "${runner% discover} tests/test_first_name.py" --expectation FAIL
}

judged() {
    detent submit-work --summary "the name is not there yet" --analysis-decision SUCCESS
}

install() {
    command -v pipx >/dev/null 2>&1 || step "apt-get install pipx" get_pipx
    step "pipx install ${1##*/}" pipx install "$1"
}

use() {
    cd "$1"
    range=${2:-HEAD~1..HEAD}
    entry="Give it a name"
    package=$(basename "$(dirname "$(ls -d src/*/__init__.py | head -n 1)")")
    step "python3 -m venv .venv, pip install -e . pytest" prepare
    step "detent check $range" check
    step "detent init --entry \"$entry\", and a commit" set_up
    step "detent start, detent get-task" begin
    step "a plan and a failing test, each handed in with detent submit-work" agent
    step "the failure confirmed: the first step is proved" judged
}

PATH=$HOME/.local/bin:$PATH
what=${1:?install WHEEL, or use CLONE [RANGE]}
shift
case $what in
install | use) "$what" "$@" ;;
*) printf 'there is no %s; say install or use\n' "$what" >&2 && exit 2 ;;
esac
printf '%4d.%d s  together\n' $((total / 10)) $((total % 10))
