# SPDX-License-Identifier: Apache-2.0
"""Calls host_main() of the module argv[1] in a load of a DataLoader."""
import ctypes
import sys

from torch.utils.data import DataLoader, Dataset


class Calls(Dataset):
    def __init__(self, path):
        self.module = ctypes.CDLL(path)

    def __len__(self):
        return 1

    def __getitem__(self, index):
        return self.module.host_main()


for batch in DataLoader(Calls(sys.argv[1])):
    sys.exit(int(batch[0]))
