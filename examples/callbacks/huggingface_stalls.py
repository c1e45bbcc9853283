# SPDX-License-Identifier: Apache-2.0
"""Hugging Face: the stall ratio beside the loss, in whatever the Trainer reports to.

    trainer = Trainer(...)
    trainer.callback_handler.callbacks.insert(0, StallRatio())   # before those that report
    # and: dlprof run python train.py
"""
import dlprof
from transformers import TrainerCallback


class StallRatio(TrainerCallback):
    """Adds dlprof/stall_ratio since the last log, and dlprof/wait_s since the start, to each log."""

    def __init__(self):
        self.before = None

    def on_log(self, args, state, control, logs=None, **kwargs):
        now = dlprof.latest()  # {}: nothing records
        if logs is not None and now and self.before and now["time_s"] > self.before["time_s"]:
            logs["dlprof/stall_ratio"] = ((now["wait_s"] - self.before["wait_s"]) /
                                          (now["time_s"] - self.before["time_s"]))
            logs["dlprof/wait_s"] = now["wait_s"]
        self.before = now or None
