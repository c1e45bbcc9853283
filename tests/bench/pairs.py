# SPDX-License-Identifier: Apache-2.0
"""The pairs of predict.py: trainings of e2e/sleeper.py, and what is changed in each.

A pair is (name, plan, row of the report, change of the plan, neighbours). The row is an id of
"whatif" or something for --what-if; neighbours are the nice values of programs that are always busy.
"""
ALONE, NICE, EQUAL = (), (19, 19), (0,)

# Constants of analysis/ may be chosen on these.
SEEN = {
    "sleep": dict(workers=4, load_s=0.06, step_s=0.012, batches=220),
    "spread": dict(workers=4, load_s=0.06, step_s=0.012, batches=220, cv=0.5),
    "tail": dict(workers=4, load_s=0.02, step_s=0.012, batches=220, slow_share=0.05,
                 slow_factor=12),
    "slow worker": dict(workers=4, load_s=0.03, step_s=0.015, batches=160, slow_workers=[2],
                        slow_factor=4),
    "slow workers": dict(workers=4, load_s=0.04, step_s=0.012, batches=160, slow_workers=[1, 2],
                         slow_factor=3),
    "alternating": dict(workers=4, load_s=0.025, step_s=0.012, batches=180, slow_every=2,
                        slow_factor=4),
    "alternating of 3": dict(workers=3, load_s=0.025, step_s=0.012, batches=180, slow_every=2,
                             slow_factor=3),
    "restarts": dict(workers=2, load_s=0.015, step_s=0.012, batches=20, epochs=9, start_s=0.12),
    "short epochs": dict(workers=4, load_s=0.03, step_s=0.01, batches=16, epochs=12),
    "hand-over": dict(workers=2, load_s=0.01, step_s=0.012, batches=200, hand_over_s=0.008),
    "slow and handed over": dict(workers=3, load_s=0.05, step_s=0.008, batches=180,
                                 hand_over_s=0.005),
    "no workers": dict(workers=0, load_s=0.02, step_s=0.012, batches=130),
    "CPU": dict(workers=2, load_s=0.03, step_s=0.006, batches=160, cpu_share=1),
    "CPU, 4 workers": dict(workers=4, load_s=0.025, step_s=0.006, batches=180, cpu_share=1),
    "half CPU": dict(workers=2, load_s=0.04, step_s=0.008, batches=160, cpu_share=0.5,
                     step_cpu_s=0.004),
    "CPU, no workers": dict(workers=0, load_s=0.015, step_s=0.01, batches=140, cpu_share=1),
}
# ... and never on these, which were written down afterwards: other rates, numbers of workers,
# payloads and images that are decoded. What the predictions are worth is how they do here.
UNSEEN = {
    "fast": dict(workers=2, load_s=0.012, step_s=0.004, batches=450),
    "slow": dict(workers=6, load_s=0.25, step_s=0.04, batches=60),
    "wide": dict(workers=5, load_s=0.1, step_s=0.025, batches=110, cv=0.8),
    "one worker": dict(workers=1, load_s=0.025, step_s=0.012, batches=110),
    "prefetch of 1": dict(workers=3, prefetch=1, load_s=0.04, step_s=0.01, batches=150, cv=0.4),
    "prefetch of 6": dict(workers=4, prefetch=6, load_s=0.05, step_s=0.014, batches=160,
                          jitter=True),
    "epochs of 9": dict(workers=3, load_s=0.02, step_s=0.008, batches=9, epochs=16),
    "slow starts": dict(workers=3, load_s=0.03, step_s=0.01, batches=40, epochs=4, start_s=0.3),
    "tensors": dict(workers=2, load_s=0.02, step_s=0.008, batches=140, tensor_bytes=1 << 22),
    "objects": dict(workers=3, load_s=0.02, step_s=0.005, batches=160, objects=40000),
    "batches of 8": dict(workers=4, load_s=0.008, step_s=0.013, batches=140, batch_size=8),
    "images": dict(workers=2, load_s=0, step_s=0.008, batches=150, images=3),
    "images and steps": dict(workers=3, load_s=0.004, step_s=0.012, step_cpu_s=0.006, batches=150,
                             images=2),
    "images, no workers": dict(workers=0, load_s=0.002, step_s=0.012, batches=120, images=2),
    "a third CPU": dict(workers=3, load_s=0.05, step_s=0.01, batches=140, cpu_share=0.3),
}
BASES = dict(SEEN, **UNSEEN)
CPU = {name for name, plan in BASES.items() if "cpu_share" in plan or "images" in plan}

TWICE = ("workers_x2", lambda p: dict(workers=2 * p["workers"]))
LESS = ("load_x0.5", lambda p: dict(load_s=p["load_s"] / 2))
LONGER = ("prefetch_x4", lambda p: dict(prefetch=4 * p.get("prefetch", 2)))
ALIKE = ("fix_slow_worker", lambda p: dict(slow_workers=[]))
PERSISTENT = ("persistent", lambda p: dict(persistent=True))
DELIVERY = ("delivery", lambda p: dict(hand_over_s=0, objects=0))
DISORDER = ("in_order_false", lambda p: dict(in_order=False))  # where torch knows it


def workers(count):
    return ("workers={}".format(count), lambda p: dict(workers=count))


LIST = [
    (ALONE, {
        "sleep": [workers(2), TWICE, LESS],
        "spread": [workers(2), TWICE, LONGER, LESS],
        "tail": [LONGER, workers(8), DISORDER],
        "slow worker": [ALIKE, TWICE, DISORDER],
        "slow workers": [ALIKE, TWICE],
        "alternating": [workers(3), TWICE],
        "alternating of 3": [workers(2), TWICE],
        "restarts": [PERSISTENT, workers(4)],
        "short epochs": [PERSISTENT, workers(2)],
        "hand-over": [DELIVERY],
        "slow and handed over": [DELIVERY, TWICE],
        "no workers": [workers(1), workers(4)],
        "CPU": [workers(1), TWICE, LESS],
        "CPU, 4 workers": [workers(1), workers(2)],
        "half CPU": [workers(1), workers(4)],
        "CPU, no workers": [workers(2)],
        "fast": [workers(1), TWICE, LESS],
        "slow": [workers(3), workers(4)],
        "wide": [workers(3), LONGER],
        "one worker": [workers(2), workers(3), LESS],
        "prefetch of 1": [LONGER, TWICE],
        "prefetch of 6": [LESS, workers(2)],
        "epochs of 9": [PERSISTENT, workers(1), workers(6)],
        "slow starts": [PERSISTENT, workers(2)],
        "tensors": [workers(1), TWICE],
        "objects": [DELIVERY, TWICE],
        "batches of 8": [workers(3), LESS],
        "images": [workers(1), TWICE],
        "images and steps": [workers(1)],
        "images, no workers": [workers(3)],
        "a third CPU": [workers(1), workers(5)],
    }),
    (NICE, {
        "sleep": [workers(2), TWICE, LESS],
        "spread": [TWICE, LONGER],
        "tail": [LONGER],
        "slow worker": [ALIKE],
        "alternating": [TWICE],
        "restarts": [PERSISTENT],
        "short epochs": [PERSISTENT],
        "hand-over": [DELIVERY],
        "no workers": [workers(4)],
        "CPU": [workers(1), TWICE, LESS],
        "CPU, 4 workers": [workers(1), workers(2)],
        "half CPU": [workers(1), workers(4)],
        "CPU, no workers": [workers(2)],
        "fast": [TWICE],
        "wide": [workers(3)],
        "epochs of 9": [PERSISTENT],
        "tensors": [TWICE],
        "images": [workers(1), workers(3)],
    }),
    (EQUAL, {
        "sleep": [workers(2), TWICE],
        "spread": [LONGER],
        "slow worker": [ALIKE],
        "restarts": [PERSISTENT],
        "no workers": [workers(4)],
        "CPU": [workers(1), TWICE, LESS],
        "CPU, 4 workers": [workers(2)],
        "half CPU": [workers(4)],
        "fast": [TWICE],
        "one worker": [workers(3)],
        "prefetch of 1": [LONGER],
        "images": [TWICE],
    }),
]


def every():
    """(base, row, plan, changed plan, neighbours) of each."""
    return [(base, row, BASES[base], dict(BASES[base], **change(BASES[base])), neighbours)
            for neighbours, table in LIST for base, changes in table.items()
            for row, change in changes]
