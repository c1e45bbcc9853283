# SPDX-License-Identifier: Apache-2.0
"""A Lightning Trainer that logs the stall ratio to TensorBoard and W&B."""
import time

import lightning.pytorch as lightning
import torch
from lightning.pytorch.loggers import TensorBoardLogger, WandbLogger
from lightning_stalls import StallRatio


class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 320

    def __getitem__(self, index):
        time.sleep(0.004)
        return torch.ones(8)


class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)

    def training_step(self, batch, index):
        time.sleep(0.01)
        return (self.layer(batch) ** 2).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.01)


if __name__ == "__main__":
    trainer = lightning.Trainer(
        max_epochs=1, logger=[TensorBoardLogger("out"), WandbLogger(save_dir=".", offline=True)],
        callbacks=[StallRatio(20)], enable_progress_bar=False, accelerator="cpu")
    trainer.fit(Net(), torch.utils.data.DataLoader(Data(), batch_size=4, num_workers=1))
