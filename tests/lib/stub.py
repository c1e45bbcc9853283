# SPDX-License-Identifier: Apache-2.0
"""Makes a torch that any CPython can import: the installed DataLoader's sources and our stub."""
import os
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
STUB = os.path.join(HERE, "..", "e2e", "stub_torch")

# Changes that give DataLoader 1.13 in_order=False, as later versions have it: pairs of a text in
# dataloader.py and its replacement.
IN_ORDER_FALSE = [
    ("                data = self._task_info.pop(self._rcvd_idx)[1]\n"
     "                return self._process_data(data)\n",
     "                data = self._task_info.pop(self._rcvd_idx)[1]\n"
     "                self._rcvd_idx += 1\n"
     "                return self._process_data(data)\n"),
    ("                info = self._task_info[self._rcvd_idx]\n"
     "                worker_id = info[0]\n"
     "                if len(info) == 2 or self._workers_status[worker_id]:"
     "  # has data or is still active\n"
     "                    break\n"
     "                del self._task_info[self._rcvd_idx]\n",
     "                info = self._task_info.get(self._rcvd_idx, None)\n"
     "                if info:\n"
     "                    worker_id = info[0]\n"
     "                    if len(info) == 2 or self._workers_status[worker_id]:\n"
     "                        break\n"
     "                    del self._task_info[self._rcvd_idx]\n"),
    ("                # store out-of-order samples\n"
     "                self._task_info[idx] += (data,)\n",
     "                if not self._in_order:\n"
     "                    del self._task_info[idx]\n"
     "                    return self._process_data(data)\n"
     "                self._task_info[idx] += (data,)\n"),
    ("                del self._task_info[idx]\n"
     "                return self._process_data(data)\n\n",
     "                del self._task_info[idx]\n"
     "                self._rcvd_idx += 1\n"
     "                return self._process_data(data)\n\n"),
    ("    def _process_data(self, data):\n        self._rcvd_idx += 1\n",
     "    def _process_data(self, data):\n"),
    ("        self._prefetch_factor = loader.prefetch_factor\n",
     "        self._prefetch_factor = loader.prefetch_factor\n"
     "        self._in_order = loader.in_order\n"),
    ("                 pin_memory_device: str = \"\"):\n",
     "                 pin_memory_device: str = \"\", in_order: bool = True):\n"
     "        self.in_order = in_order\n"),
]


# Other names for the patch points, like those of a fork or a later version of torch.
HIDDEN = {"_BaseDataLoaderIter": "_RootIter", "_MultiProcessingDataLoaderIter": "_ManyIter",
          "_worker_loop": "_work", "_MapDatasetFetcher": "_MapFetcher",
          "_IterableDatasetFetcher": "_StreamFetcher"}


def torch_sources(python="/usr/bin/python3"):
    """Returns the folder torch/utils/data of the torch that `python` would import, or None."""
    find = ("import importlib.util as u; s = u.find_spec('torch'); "
            "print(s.submodule_search_locations[0] if s else '')")
    try:
        done = subprocess.run([python, "-c", find], stdout=subprocess.PIPE, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    folder = os.path.join(done.stdout.decode().strip() or "/nonexistent", "utils", "data")
    return folder if os.path.isfile(os.path.join(folder, "dataloader.py")) else None


def _copy(source, target, changes=()):
    with open(source, encoding="utf-8") as text:
        content = text.read()
    for old, new in changes:
        if content.count(old) != 1:
            raise ValueError("{}: cannot adapt {!r}".format(source, old))
        content = content.replace(old, new)
    with open(target, "w", encoding="utf-8") as text:
        text.write(content)


def _has_in_order(source):
    with open(source, encoding="utf-8") as text:
        return "in_order: bool" in text.read()


def hide(folder):
    """Renames the patch points of the stub in `folder`."""
    for where, _, names in os.walk(os.path.join(folder, "torch", "utils", "data")):
        for name in names:
            with open(os.path.join(where, name), encoding="utf-8") as text:
                content = text.read()
            for old, new in HIDDEN.items():
                content = content.replace(old, new)
            with open(os.path.join(where, name), "w", encoding="utf-8") as text:
                text.write(content)


def make(folder, in_order_false=False, hidden=False):
    """Writes folder/torch and returns `folder`, or None if no torch is installed to copy from."""
    sources = torch_sources()
    if not sources:
        return None
    data = os.path.join(folder, "torch", "utils", "data")
    os.makedirs(os.path.join(data, "_utils"))
    shutil.copy(os.path.join(STUB, "__init__.py"), os.path.join(folder, "torch", "__init__.py"))
    shutil.copy(os.path.join(STUB, "data_init.py"), os.path.join(data, "__init__.py"))
    open(os.path.join(folder, "torch", "utils", "__init__.py"), "w").close()
    for name in ("dataloader", "dataset", "sampler"):
        source = os.path.join(sources, name + ".py")
        changes = IN_ORDER_FALSE if in_order_false and name == "dataloader" else ()
        _copy(source, os.path.join(data, name + ".py"), () if _has_in_order(source) else changes)
    for name in os.listdir(os.path.join(sources, "_utils")):
        if name.endswith(".py"):
            shutil.copy(os.path.join(sources, "_utils", name), os.path.join(data, "_utils", name))
    if hidden:
        hide(folder)
    return folder
