# SPDX-License-Identifier: Apache-2.0
"""Reads each file of a folder in another way; bytes.py compares the recorded bytes with strace's.

usage: workloads.py FOLDER: a folder that make() has filled.
"""
import array
import ctypes
import os
import socket
import struct
import subprocess
import sys

try:
    import h5py
except ImportError:
    h5py = None
try:
    import lmdb
except ImportError:
    lmdb = None
try:
    import torch
    import torchvision
except ImportError:
    torchvision = None

SIZE = 300_007  # bytes of a file; no multiple of any block's size


def noise(count):
    return bytes((i * 7919 + (i >> 8) * 31) % 256 for i in range(count))


def lines():
    return b"".join(b"line %d\0of %d numbers\n" % (i, i * 37) for i in range(12_000))


def make(folder):
    """Fills a folder with data; a process calls it that is neither recorded nor traced."""
    import numpy

    content = noise(SIZE)
    names = [name for name in WORKLOADS if not name.startswith("text_")] + ["other"]
    for name in names:
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)
    for name in WORKLOADS:
        if name.startswith("text_"):
            with open(os.path.join(folder, name), "wb") as file:
                file.write(lines().replace(b"\0", b"\0" if name == "text_fgets" else b" "))
    numpy.save(os.path.join(folder, "numpy_load.npy"), numpy.arange(70_001))
    numpy.savez_compressed(os.path.join(folder, "archive.npz"), plain=numpy.arange(70_001),
                           same=numpy.zeros(70_001))
    if h5py:
        with h5py.File(os.path.join(folder, "hdf5.h5"), "w") as file:
            file.create_dataset("x", data=numpy.arange(70_001), chunks=(1000,), compression="gzip")
    if lmdb:
        with lmdb.open(os.path.join(folder, "database.lmdb"), subdir=False) as database:
            with database.begin(write=True) as writer:
                for i in range(100):
                    writer.put(b"%d" % i, noise(5000))
    if torchvision:
        torch.save({"x": torch.arange(70_001)}, os.path.join(folder, "tensors.pt"))
        torchvision.io.write_png(torch.arange(3 * 90 * 80, dtype=torch.uint8).reshape(3, 90, 80),
                                 os.path.join(folder, "image.png"))


def read(path):
    with open(path, "rb") as file:
        file.read()


def unbuffered(path):
    fd = os.open(path, os.O_RDONLY)
    while os.read(fd, 10_000):
        pass
    os.pread(fd, 5000, SIZE - 100)
    os.readv(fd, [bytearray(10), bytearray(20)])
    os.preadv(fd, [bytearray(1000), bytearray(20)], 5)
    os.preadv(fd, [bytearray(1000)], 7, os.RWF_HIPRI)
    os.close(fd)


def sent(path):
    fd = os.open(path, os.O_RDONLY)
    target = os.open(path + ".copy", os.O_RDWR | os.O_CREAT)
    os.sendfile(target, fd, 100, 200_000)
    os.copy_file_range(fd, target, 50_000)
    into, out = os.pipe()
    libc.splice(fd, None, out, None, ctypes.c_size_t(4000), 0)
    for number in (fd, target, into, out):
        os.close(number)


def archive(path):
    """Reads the members of a .npz, of which one is compressed."""
    import numpy

    with numpy.load(path + ".npz") as file:
        assert len(file["plain"]) == len(file["same"])


def tensors(path):
    if torchvision:
        torch.load(path + ".pt")


def fromfile(path):
    import numpy

    numpy.fromfile(path, dtype="u1")
    numpy.fromfile(path, dtype="<u4", count=100)
    numpy.fromfile(path, dtype="<u8", offset=123_457)
    with open(path, "rb") as file:
        file.read(10)
        numpy.fromfile(file, dtype="<u2", count=1001)
        file.read(10)


def numpy_load(path):
    import numpy

    numpy.load(path + ".npy")


def received(path):
    ours, theirs = socket.socketpair()
    fd = os.open(path, os.O_RDONLY)
    socket.send_fds(ours, [b"x"], [fd])
    os.close(fd)
    _, [fd], _, _ = socket.recv_fds(theirs, 1, 1)
    while os.read(fd, 65536):
        pass
    os.close(fd)
    ours.close()
    theirs.close()


def received_again(path):
    """Reads a received descriptor whose number libc itself has closed before: of a folder, and of a pipe."""
    ours, theirs = socket.socketpair()
    fd, folder = os.open(path, os.O_RDONLY), os.open(os.path.dirname(path), os.O_RDONLY)
    for use in (lambda: os.listdir(folder), lambda: first_line(b"echo once")):
        socket.send_fds(ours, [b"x"], [fd])
        use()
        _, [copy], _, _ = socket.recv_fds(theirs, 1, 1)
        while os.pread(copy, 65536, os.lseek(copy, 65536, 1) - 65536):
            pass
        os.lseek(copy, 0, 0)
        os.close(copy)
    for number in (fd, folder):
        os.close(number)
    ours.close()
    theirs.close()


def first_line(command):
    pipe, buffer = ctypes.c_void_p(libc.popen(command, b"r")), ctypes.create_string_buffer(64)
    assert libc.fgets(buffer, 64, pipe)
    assert libc.pclose(pipe) == 0


def inherited(path):
    fd = os.open(path, os.O_RDONLY)
    subprocess.run([sys.executable, "-S", "-c", "import os\nwhile os.read({}, 4096): pass"
                    .format(fd)], pass_fds=[fd], check=True)
    os.close(fd)


def copied(path):
    fd = os.open(path, os.O_RDONLY)
    other = os.dup(fd)
    os.close(fd)
    os.dup2(other, 90)
    os.close(other)
    while os.read(90, 65536):
        pass
    os.close(90)


# CDLL(None) is RTLD_DEFAULT: it finds the functions that a library linked to libc gets.
libc = ctypes.CDLL(None)
for name in ("fopen64", "mmap64", "popen", "fgets"):
    getattr(libc, name).restype = ctypes.c_void_p


def stream(path):
    return ctypes.c_void_p(libc.fopen64(os.fsencode(path), b"r"))


def fread(path):
    """Reads elements of 7 bytes, of which the file has the last one only in part."""
    file, buffer = stream(path), ctypes.create_string_buffer(7000)
    while libc.fread(buffer, 7, 1000, file) == 1000:
        pass
    libc.fclose(file)


def fseek(path):
    file, buffer = stream(path), ctypes.create_string_buffer(7000)
    for i in range(200):
        libc.fseek(file, ctypes.c_long(i * 7919 * 13 % SIZE), 0)
        libc.fread(buffer, 1, 1 + i * 37 % 6000, file)
        if i % 3 == 0:
            libc.fseek(file, ctypes.c_long(-5), 1)
    libc.fseek(file, ctypes.c_long(0), 2)
    libc.rewind(file)
    libc.fread(buffer, 1, 10, file)
    libc.fclose(file)


def text_fgets(path):
    file, buffer = stream(path), ctypes.create_string_buffer(64)
    while libc.fgets(buffer, 64, file):
        pass
    libc.fclose(file)


def text_long_lines(path):
    """Reads lines that are longer than the stream's buffer, which one call fills several times."""
    file, line, room = stream(path), ctypes.c_void_p(), ctypes.c_size_t()
    for _ in range(4):
        libc.getdelim(ctypes.byref(line), ctypes.byref(room), ord("~"), file)
    libc.fclose(file)


def text_getline(path):
    file, line, room = stream(path), ctypes.c_void_p(), ctypes.c_size_t()
    for number in range(14_000):
        libc.getline(ctypes.byref(line), ctypes.byref(room), file)
        if number % 10 == 0 and number < 10_000:
            libc.ungetc(ord("x"), file)
    libc.fclose(file)


def text_fscanf(path):
    file, number = stream(path), ctypes.c_int()
    while libc.fscanf(file, b"line %d of %*d numbers ", ctypes.byref(number)) == 1:
        pass
    libc.fclose(file)


def uflow(path):
    """Reads as a compiled getc_unlocked() does: it takes bytes from the buffer, and calls __uflow() at its end."""
    file = stream(path)
    for _ in range(20):
        libc.__uflow(file)
        for _ in range(4095):
            libc.getc(file)
    libc.fclose(file)


def by_number(path):
    fd, buffer = os.open(path, os.O_RDONLY), ctypes.create_string_buffer(4096)
    while libc.syscall(0, ctypes.c_long(fd), buffer, ctypes.c_long(4096)) > 0:
        pass
    os.close(fd)


def asynchronous(path):
    fd, buffer = os.open(path, os.O_RDONLY), ctypes.create_string_buffer(100_000)
    # struct aiocb of x86-64 and aarch64: fildes, lio_opcode, reqprio, buf, nbytes, sigevent...
    block = ctypes.create_string_buffer(struct.pack("iiiiQQ", fd, 0, 0, 0,
                                                    ctypes.addressof(buffer), 100_000), 168)
    struct.pack_into("i", block, 44, 1)  # SIGEV_NONE
    libc.aio_read(block)
    libc.aio_suspend((ctypes.c_void_p * 1)(ctypes.addressof(block)), 1, None)
    libc.aio_return(block)
    os.close(fd)


def mapped(path):
    import mmap

    with open(path, "rb") as file:
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
            view.madvise(mmap.MADV_WILLNEED)
            sum(view[::4096])


def memmap(path):
    import numpy

    int(numpy.memmap(path, dtype="u1", mode="r")[::4096].sum())


def hdf5(path):
    if h5py:
        with h5py.File(path + ".h5", "r") as file:
            for i in range(0, 70_001, 7000):
                file["x"][i:i + 1500].sum()


def database(path):
    if lmdb:
        with lmdb.open(path + ".lmdb", subdir=False, readonly=True, lock=False) as opened:
            with opened.begin() as reader:
                for i in range(100):
                    reader.get(b"%d" % i)


def image(path):
    """Reads an image that torchvision maps: no call reads the bytes that page faults bring."""
    if torchvision:
        torchvision.io.read_image(path + ".png")


WORKLOADS = {function.__name__: function for function in (
    read, unbuffered, sent, archive, tensors, fromfile, numpy_load, received, received_again, inherited, copied, fread, fseek,
    text_fgets, text_long_lines, text_getline, text_fscanf, uflow, by_number, asynchronous, mapped,
    memmap, hdf5, database, image)}


def loader(folder):
    from torch.utils.data import DataLoader, Dataset

    class Files(Dataset):
        def __len__(self):
            return 6

        def __getitem__(self, index):
            read(os.path.join(folder, "other"))
            return index

    batches = DataLoader(Files(), num_workers=2, multiprocessing_context="fork")
    array.array("q", (int(batch[0]) for batch in batches))


if __name__ == "__main__":
    for name, function in WORKLOADS.items():
        function(os.path.join(sys.argv[1], name))
    loader(sys.argv[1])
