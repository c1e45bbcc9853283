# SPDX-License-Identifier: Apache-2.0
"""A training script's own account: time in the outermost iter(), next() or end of any loader, and in
letting go of its iterator, is waiting, all else is step, from the return of the first next() on. What
came before is start-up."""
import json
import threading
import time

_calls = []  # (what, begin, end), one after the other
_batches = []  # of each call: whether it handed out one
_received = [0]  # seconds of the waits after which the batches had been finished
_state = threading.local()


def timed(what, call, *arguments):
    outer, _state.inside = not getattr(_state, "inside", False), True
    begin = time.perf_counter()
    try:
        return call(*arguments)
    except StopIteration:
        what = "epoch_end"
        raise
    except ValueError:
        what = "raised"
        raise
    finally:
        if outer:
            _calls.append((what, begin, time.perf_counter()))
            _batches.append(call is next and what not in ("epoch_end", "raised"))
            _state.inside = False


class Timed:
    """`for batch in Timed(loader)`. finished(batch): when its worker had it, if it tells that."""

    def __init__(self, loader, finished=None):
        self.loader, self.finished = loader, finished

    def __iter__(self):
        self.iterator, self.count = timed("epoch_start", iter, self.loader), 0
        return self

    def __next__(self):
        self.count += 1
        first = self.count <= getattr(self.loader, "num_workers", 1)
        batch = timed("epoch_start" if first else "within", next, self.iterator)
        if self.finished and not first:
            _, begin, end = _calls[-1]
            _received[0] += end - max(begin, self.finished(batch))
        return batch

    def __del__(self):
        """Of a loop that is left the workers end now."""
        if hasattr(self, "iterator"):
            timed("epoch_end", self.__dict__.clear)


class Sleepy:
    """`count` samples, each of which takes `seconds` to load."""

    def __init__(self, count, seconds):
        self.count, self.seconds = count, seconds

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        time.sleep(self.seconds)
        return index


def body():
    """The loop's body begins: the loop has let go of the batch before, which takes a while, too."""
    what, begin, _ = _calls[-1]
    _calls[-1] = what, begin, time.perf_counter()


def step(seconds):
    time.sleep(seconds)


def finish(loaders=None, tells_parts=False, is_opaque=False, starts_unseen=False):
    """The last step is over: says what the account is. is_opaque: loads are not seen; starts_unseen: nor
    is what the training waits before another thread asks for the first batch."""
    over = time.perf_counter()
    first = next(at for at, batch in enumerate(_batches) if batch)
    rest = _calls[first + 1:]
    for batch in _batches[:first:-1]:  # what comes after the last step is outside
        if batch:
            break
        over = rest.pop()[1]
    time_s = over - _calls[first][2]
    account = dict.fromkeys(("epoch_start", "epoch_end", "within", "raised"), 0)
    for what, entered, left in rest:
        account[what] += (left - entered) / time_s
    account.update(ratio=sum(account.values()), batches=sum(_batches),
                   startup_s=sum(left - entered for _, entered, left in _calls[:first + 1]))
    account.update(receiving=_received[0] / time_s, loaders=loaders, tells_parts=tells_parts,
                   is_opaque=is_opaque, starts_unseen=starts_unseen)
    print(json.dumps(account))
