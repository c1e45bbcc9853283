# SPDX-License-Identifier: Apache-2.0
"""A Hugging Face Trainer that reports the stall ratio to TensorBoard and W&B."""
import time

import torch
from huggingface_stalls import StallRatio
from transformers import Trainer, TrainingArguments


class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 320

    def __getitem__(self, index):
        time.sleep(0.004)
        return {"x": torch.ones(8), "labels": torch.zeros(1)}


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)

    def forward(self, x, labels):
        time.sleep(0.01)
        return {"loss": ((self.layer(x) - labels) ** 2).mean()}


if __name__ == "__main__":
    trainer = Trainer(Net(), TrainingArguments(
        "out", per_device_train_batch_size=4, num_train_epochs=1, logging_steps=20,
        report_to=["tensorboard", "wandb"], dataloader_num_workers=1, use_cpu=True,
        save_strategy="no", disable_tqdm=True), train_dataset=Data())
    trainer.callback_handler.callbacks.insert(0, StallRatio())
    trainer.train()
