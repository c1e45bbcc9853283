# SPDX-License-Identifier: Apache-2.0
"""Trainings with one thing wrong each, as plans of sleeper.py, and what is to be said of them.

`expect` has the fields of --json that matter; a set lists what is right. Loads and steps are some
tens of milliseconds, so that what a DataLoader itself takes (about one) is little.
"""
HIGH, MODERATE, NOT = ("highly_input_bound", "moderately_input_bound", "not_input_bound")


def expect(verdict, cause, advice, **others):
    return dict({"verdict": verdict, "cause": cause, "advice": advice, "period": None,
                 "compute_period": None, "slow_worker": None}, **others)


# Left to TRAININGS=all in the environment: what differs from one of the others only in degree, or needs the CPU.
MORE = {"nearly_critical", "loader_bound_slightly", "spread_half", "isolated_stall",
        "cpu_contention"}


SCENARIOS = {
    "balanced": (
        dict(workers=4, load_s=0.04, step_s=0.02, batches=150),
        expect(NOT, "none", "none")),
    "nearly_critical": (
        dict(workers=4, load_s=0.048, step_s=0.015, batches=180, cv=0.05),
        expect(NOT, "none", "none")),
    "loader_bound": (
        dict(workers=4, load_s=0.1, step_s=0.01, batches=140, meet=True),
        expect(HIGH, "loader_capacity", "more_loader_capacity", period=4)),
    "loader_bound_slightly": (
        dict(workers=4, load_s=0.08, step_s=0.016, batches=160, cv=0.05),
        expect(MODERATE, "loader_capacity", "more_loader_capacity", period={4, None})),
    "spread_half": (
        dict(workers=4, load_s=0.08, step_s=0.01, batches=140, cv=0.5),
        expect(HIGH, "loader_capacity", "more_loader_capacity", period={4, None})),
    "spread_one": (
        dict(workers=4, load_s=0.08, step_s=0.01, batches=120, cv=1),
        expect(HIGH, "loader_capacity", "more_loader_capacity")),
    "head_of_line": (
        dict(workers=4, load_s=0.02, step_s=0.015, batches=170, slow_share=0.04, slow_factor=10),
        expect({HIGH, MODERATE}, "head_of_line", "prefetch_or_in_order_false")),
    "slow_worker": (
        dict(workers=4, load_s=0.03, step_s=0.015, batches=120, slow_worker=2, slow_factor=4),
        expect(HIGH, "slow_worker", "fix_slow_worker", period=4, slow_worker=2)),
    "epoch_start": (
        dict(workers=2, load_s=0.015, step_s=0.012, batches=30, epochs=6, start_s=0.25),
        expect({HIGH, MODERATE}, "epoch_start", "persistent_workers")),
    "checkpoint": (
        dict(workers=2, load_s=0.01, step_s=0.015, batches=160, pause_every=20, pause_s=0.15),
        expect(NOT, "main_thread_periodic", "reduce_main_thread_event", compute_period=20)),
    "single_process": (
        dict(workers=0, load_s=0.02, step_s=0.01, batches=100, cores=1),
        expect(HIGH, "single_process", "use_workers", cores=1)),
    "periodic_slow_load": (
        dict(workers=4, load_s=0.02, step_s=0.015, batches=160, slow_every=18, slow_factor=15),
        # No data file is touched: it is no shard that is opened.
        expect(HIGH, "periodic_slow_load", "inspect_loads", period=18)),
    "intermittent": (
        dict(workers=4, load_s=0.02, step_s=0.015, batches=170,
             hangs=[[0.5, 0.3], [1.2, 0.3], [2.3, 0.3], [2.8, 0.3]]),
        # No data file is touched: it is not the storage.
        expect({HIGH, MODERATE}, "intermittent_loader", "prefetch_or_in_order_false")),
    "cold_cache": (
        dict(workers=4, load_s=0.015, step_s=0.012, batches=60, epochs=3, cold_factor=6),
        expect({HIGH, MODERATE}, "cold_cache", "warm_cache", period={4, None})),
    "isolated_stall": (
        dict(workers=4, load_s=0.015, step_s=0.015, batches=150, stall_at=80, stall_s=1),
        expect({HIGH, MODERATE}, "isolated_stall", "find_event")),
    "delivery": (
        dict(workers=2, load_s=0.01, step_s=0.015, batches=130, hand_over_s=0.004),
        # A batch is one number: it is not its tensors.
        expect({HIGH, MODERATE}, "delivery", {"inspect_waits", "own_cores"})),
    "cpu_contention": (
        dict(workers=3, load_s=0.04, step_s=0.01, batches=120, cpu_share=1, cores=1),
        expect(HIGH, "cpu_contention", "reduce_cpu_per_batch", period={3, None}, cores=1)),
}

# The worked example at a tenth of its length: 7 workers, 10 ms of training a batch, 3 s. The
# example's loads differ somewhat; constant ones would deliver 293 in the balanced case.
EXAMPLE = dict(workers=7, step_s=0.01, paced=True, batches=310, seconds=3, meet=True)
STARVED = dict(EXAMPLE, load_s=0.2, batches=112)
EXAMPLES = {
    "example_slow": (
        STARVED,
        expect(HIGH, "loader_capacity", "more_loader_capacity", period=7, delivered=98)),
    "example_balanced": (
        dict(EXAMPLE, load_s=0.07, cv=0.15),
        expect({MODERATE, NOT}, {"loader_capacity", "head_of_line", "none", "delivery"},
               {"more_loader_capacity", "prefetch_or_in_order_false", "none",
                "inspect_waits", "own_cores"}, period={7, None}, delivered=275)),
    "example_fast": (
        dict(EXAMPLE, load_s=0.035),  # handing over is 5 % of 10 ms where the machine is slow
        expect(NOT, {"none", "delivery"}, {"none", "inspect_waits", "own_cores"}, delivered=295)),
    # Its two ways to hide the spike: loads that differ much, and workers that are out of step.
    "example_spread": (
        dict(STARVED, cv=1),
        expect(HIGH, "loader_capacity", "more_loader_capacity")),
    "example_staggered": (
        dict(STARVED, apart_s=0.2 / 7),
        expect(HIGH, "loader_capacity", "more_loader_capacity")),
}
