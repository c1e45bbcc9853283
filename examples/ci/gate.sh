#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A gate anywhere: trains and records, then lets the job pass or not. Needs dlprof on the PATH.
#
# usage: gate.sh COMMAND...                e.g. gate.sh python train.py --epochs 2
#                                               gate.sh torchrun --nproc-per-node 2 train.py
#
# OPTIONS (.dlprof-gate), BASELINE (dlprof-baseline): the limits, the folder of runs to compare with.
# RESULTS (dlprof-results): a run for each rank, JUnit, Markdown and JSON.
# MAIN=1: on the main branch, where a run that passes becomes a baseline and the first ones may.
# Exits as the training does if that fails, else as the gate: 0 passed, 1 failed, 3 cannot say.
set -eu

options=${OPTIONS:-.dlprof-gate}
baseline=${BASELINE:-dlprof-baseline}
results=${RESULTS:-dlprof-results}

rm -rf "$results/runs"
mkdir -p "$results/runs"
dlprof run -o "$results/runs/run-%r.db" "$@"

# Too few baselines only warn, as the options say, so that main can collect them. Too few batches or
# lost records are status 3.
set -- "@$options" --baseline "$baseline"
[ "${MAIN:-0}" = 1 ] && set -- "$@" --update-baseline
forms=text
[ "${GITHUB_ACTIONS:-}" = true ] && forms=text,github
forms=$forms,junit=$results/gate.xml,markdown=$results/gate.md
exec dlprof-report gate "$results/runs" "$@" -f --format "$forms,json=$results/gate.json"
