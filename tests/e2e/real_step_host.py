# SPDX-License-Identifier: Apache-2.0
"""Trains with a library as its users do, and sleeps a known time in each part of the step.

usage: real_step_host.py KIND. Prints the slept seconds by part from the step of batch FIRST on, as JSON,
and then a digest of weights and losses.
"""
import hashlib
import json
import logging
import sys
import time

import torch

KIND = sys.argv[1]
FIRST, COUNT = 6, 26
NAPS = {"before": 0.036, "backward": 0.045, "between": 0.012, "optimizer": 0.027, "after": 0.021, "other": 0.03}
slept, losses = dict.fromkeys(NAPS, 0), []


def nap(part):
    begin = time.perf_counter()
    time.sleep(NAPS[part])
    slept[part] += time.perf_counter() - begin


def begin(number):
    """What comes first in the step of each batch: the steps before are for warming up."""
    if number == FIRST:
        slept.update(dict.fromkeys(NAPS, 0))


class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 8 * COUNT

    def __getitem__(self, index):
        features = torch.rand(16, generator=torch.Generator().manual_seed(index))
        return {"x": features, "labels": index % 2}


class SlowBackward(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x.clone()

    @staticmethod
    def backward(context, gradient):
        nap("backward")
        return gradient


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(16, 2), torch.nn.Dropout(0.1))

    def forward(self, x, labels):
        nap("before")
        logits = SlowBackward.apply(self.layers(x))
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}


def slow(optimizer):
    class Slow(optimizer):
        def step(self, closure=None):
            loss = super().step(closure)
            nap("optimizer")
            return loss
    return Slow


def loop(model, optimizer, batches, backward=torch.Tensor.backward, step=None, update=lambda: None):
    """The loop that people write by hand."""
    for number, batch in enumerate(batches):
        begin(number)
        optimizer.zero_grad()
        loss = model(**batch)["loss"]
        backward(loss)
        nap("between")
        (step or optimizer.step)()
        update()
        losses.append(loss.item())
        nap("after")


def scaler(model, optimizer, batches):
    """GradScaler, whose step() calls the optimizer's. PyTorch's before 2.3 scales on a GPU alone."""
    scaler = (torch.amp.GradScaler("cpu") if hasattr(torch.amp, "GradScaler")
              else torch.cuda.amp.GradScaler())
    loop(model, optimizer, batches, lambda loss: scaler.scale(loss).backward(),
         lambda: scaler.step(optimizer), scaler.update)


def two(model, optimizer, batches):
    """Two optimizers, one after the other, as a generator's and a discriminator's."""
    other = torch.nn.Linear(16, 2)
    second = slow(torch.optim.Adam)(other.parameters(), lr=0.01)
    for number, batch in enumerate(batches):
        begin(number)
        optimizer.zero_grad()
        second.zero_grad()
        loss = model(**batch)["loss"] + torch.nn.functional.cross_entropy(other(batch["x"]), batch["labels"])
        loss.backward()
        nap("between")
        optimizer.step()
        second.step()
        losses.append(loss.item())
        nap("after")


def validated(model, optimizer, batches):
    """A loop that validates after every fifth step, with the batches of a loader of its own."""
    others = torch.utils.data.DataLoader(torch.utils.data.Subset(Data(), range(16)), batch_size=8)

    def validating():
        for number, batch in enumerate(batches):
            yield batch
            if number % 5 == 4:
                with torch.no_grad():
                    for other in others:
                        losses.append(model.layers(other["x"]).sum().item())
                        nap("other")
    loop(model, optimizer, validating())


def ddp(model, optimizer, batches):
    """One of two ranks. The backward pass also waits for the other's gradients, so that all of it is timed."""
    import torch.distributed

    def backward(loss):
        before, start = slept["backward"], time.perf_counter()
        loss.backward()
        slept["backward"] = before + time.perf_counter() - start
    torch.distributed.init_process_group("gloo")
    loop(torch.nn.parallel.DistributedDataParallel(model), optimizer, batches, backward)
    torch.distributed.destroy_process_group()


def lbfgs(model, _, batches):
    """The optimizer's closure runs forward and backward, several times."""
    optimizer = slow(torch.optim.LBFGS)(model.parameters(), lr=0.01, max_iter=2)
    for number, batch in enumerate(batches):
        begin(number)

        def closure():
            optimizer.zero_grad()
            loss = model(**batch)["loss"]
            loss.backward()
            return loss
        losses.append(optimizer.step(closure).item())
        nap("after")


def compiled(model, optimizer, batches):
    model.layers = torch.compile(model.layers, backend="aot_eager", fullgraph=True)
    loop(model, optimizer, batches)


def inductor(model, optimizer, batches):
    """torch.compile() as it comes."""
    model.layers = torch.compile(model.layers)
    loop(model, optimizer, batches)


def one_compiled(model, optimizer, batches):
    """Two optimizers, one of them compiled."""
    other = torch.nn.Linear(16, 2)
    second = torch.optim.SGD(other.parameters(), lr=0.01)
    compiled = torch.compile(lambda: second.step(), backend="eager")
    for number, batch in enumerate(batches):
        begin(number)
        torch.nn.functional.cross_entropy(other(batch["x"]), batch["labels"]).backward()
        compiled()
        nap("optimizer")
        loss = model(**batch)["loss"]
        loss.backward()
        optimizer.step()
        losses.append(loss.item())


def accelerate(model, optimizer, batches):
    """Two batches to a step of the optimizer."""
    from accelerate import Accelerator
    accelerator = Accelerator(cpu=True, mixed_precision="bf16", gradient_accumulation_steps=2)
    model, optimizer, batches = accelerator.prepare(model, optimizer, batches)
    for number, batch in enumerate(batches):
        begin(number)
        with accelerator.accumulate(model):
            loss = model(**batch)["loss"]
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                nap("between")
            optimizer.step()
            optimizer.zero_grad()
        losses.append(loss.item())
        nap("after")


def lightning(model, optimizer, batches):
    """Its optimizers get a closure."""
    import lightning.pytorch as pl
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

    class Module(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = model

        def training_step(self, batch, number):
            loss = self.model(**batch)["loss"]
            losses.append(loss.item())
            return loss

        def on_train_batch_start(self, batch, number):
            begin(number)

        def on_before_optimizer_step(self, optimizer):
            nap("between")

        def on_train_batch_end(self, *_):
            nap("after")

        def configure_optimizers(self):
            return optimizer
    pl.Trainer(max_epochs=1, logger=False, enable_checkpointing=False, enable_progress_bar=False,
               enable_model_summary=False, accelerator="cpu").fit(Module(), batches)


def transformers(model, optimizer, batches):
    from transformers import Trainer, TrainerCallback, TrainingArguments

    class Naps(TrainerCallback):
        def on_step_begin(self, arguments, state, control, **_):
            begin(state.global_step)

        def on_pre_optimizer_step(self, *_, **__):
            nap("between")

        def on_step_end(self, *_, **__):
            nap("after")
    arguments = TrainingArguments("out", per_device_train_batch_size=8, num_train_epochs=1, report_to=[],
                                  disable_tqdm=True, save_strategy="no", use_cpu=True)
    Trainer(model=model, args=arguments, train_dataset=Data(), callbacks=[Naps()],
            optimizers=(optimizer, None)).train()


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = Net()
    kinds = {"torch": loop, "two": two, "validated": validated, "ddp": ddp, "inductor": inductor, "scaler": scaler, "lbfgs": lbfgs, "compiled": compiled, "one_compiled": one_compiled,
             "accelerate": accelerate, "lightning": lightning, "transformers": transformers}
    kinds[KIND](model, slow(torch.optim.SGD)(model.parameters(), lr=0.01),
                torch.utils.data.DataLoader(Data(), batch_size=8, shuffle=True))
    weights = b"".join(p.detach().numpy().tobytes() for p in model.parameters())
    print("SLEPT", json.dumps(slept))
    print("DIGEST", hashlib.md5(weights + repr(losses).encode()).hexdigest())


main()
