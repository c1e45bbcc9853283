# SPDX-License-Identifier: Apache-2.0
"""Lightning: the stall ratio beside the loss, in whatever logger the Trainer has.

    Trainer(callbacks=[StallRatio()])            # and: dlprof run python train.py
"""
import dlprof
from lightning.pytorch.callbacks import Callback


class StallRatio(Callback):
    """Logs dlprof/stall_ratio of the last `every` batches, and dlprof/wait_s since the start."""

    def __init__(self, every=50):
        self.every, self.before = every, None

    def on_train_batch_start(self, trainer, module, batch, batch_idx):
        if trainer.global_step % self.every:
            return
        now = dlprof.latest()  # {}: nothing records
        if now and self.before and now["time_s"] > self.before["time_s"]:
            ratio = ((now["wait_s"] - self.before["wait_s"]) /
                     (now["time_s"] - self.before["time_s"]))
            for logger in trainer.loggers:
                logger.log_metrics({"dlprof/stall_ratio": ratio, "dlprof/wait_s": now["wait_s"]},
                                   step=trainer.global_step)
        self.before = now or None
