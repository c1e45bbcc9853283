#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A gate anywhere: trains under the preload, then lets the run pass or not.
#
# usage: gate.sh COMMAND...                e.g. gate.sh python3 train.py --epochs 2
#
# DLPROF_LIB (libdlprof.so), REPORT (dlprof-report): where they are.
# POLICY (.dlprof-gate), BASELINE (dlprof-baseline): the assertions, the folder of runs to compare with.
# RESULTS (dlprof-results): the run, JUnit, Markdown and OpenMetrics.
# MAIN=1: on the main branch, where a run that passes becomes a baseline and the first ones may.
# Exits as the training does if that fails, else as the gate: 0 passed, 1 failed, 3 cannot say.
set -eu

library=${DLPROF_LIB:-libdlprof.so}
report=${REPORT:-dlprof-report}
policy=${POLICY:-.dlprof-gate}
baseline=${BASELINE:-dlprof-baseline}
results=${RESULTS:-dlprof-results}

mkdir -p "$results"
rm -f "$results"/run.db*
DLPROF_OUT=$results/run.db LD_PRELOAD=$library "$@"

# Too few baselines: the policy says else=warn for that, so that main can collect them. Too few
# batches or lost records are status 3.
set -- --policy "$policy" --baseline "$baseline"
[ "${MAIN:-0}" = 1 ] && set -- "$@" --update-baseline
forms=text
[ "${GITHUB_ACTIONS:-}" = true ] && forms=text,github
forms=$forms,junit=$results/gate.xml,markdown=$results/gate.md,openmetrics=$results/metrics.txt
exec "$report" gate "$results/run.db" "$@" -f --format "$forms,json=$results/gate.json"
