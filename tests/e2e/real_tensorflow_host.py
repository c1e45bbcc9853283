# SPDX-License-Identifier: Apache-2.0
"""A training with TensorFlow whose input pipeline has a planted flaw.

usage: real_tensorflow_host.py FOLDER KIND. FOLDER gets images on first use. Prints as JSON the seconds from the
first batch to the last, those waited in next() by the script's own clock, batches, and a digest of all.
"""
import glob
import hashlib
import json
import os
import sys
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

IMAGES, BATCH, STEP_S, SIDE = 480, 8, 0.01, 96
folder, kind = sys.argv[1:3]
AUTO = tf.data.AUTOTUNE


def make():
    """Files of JPEGs, and the same in four files of records; below /slow/, which slow_reads.c knows."""
    os.makedirs(os.path.join(folder, "slow"))
    noise = np.random.default_rng(1)
    for number in range(IMAGES):
        blocks = noise.integers(0, 255, (24, 32, 3), np.uint8).repeat(16, 0).repeat(16, 1)
        tf.io.write_file(os.path.join(folder, "slow", "%04d.jpg" % number), tf.io.encode_jpeg(blocks))
    for shard in range(4):
        with tf.io.TFRecordWriter(os.path.join(folder, "slow", "%d.records" % shard)) as writer:
            for path in sorted(glob.glob(os.path.join(folder, "slow", "*.jpg")))[shard::4]:
                with open(path, "rb") as file:
                    writer.write(file.read())


def decode(data):
    return tf.image.resize(tf.image.decode_jpeg(data, channels=3), (SIDE, SIDE)) / 255.


def load(path):
    return decode(tf.io.read_file(path))


def hues(image):
    for _ in range(200):
        image = tf.image.adjust_hue(image, .05)
    return image


def python(path):
    return np.sort(np.random.default_rng(len(path)).random(600_000))[:64].astype(np.float32)


def asleep(path):
    """As reading over a network: it waits, and holds no interpreter meanwhile."""
    time.sleep(.01)
    return np.full((64,), 1, np.float32)


def generate():
    for number in range(IMAGES):
        time.sleep(.005)
        yield np.full((64,), number, np.float32)


def with_options(data, threads=None, autotune=True):
    options = tf.data.Options()
    options.autotune.enabled = autotune
    if threads:
        options.threading.private_threadpool_size = threads
    return data.with_options(options)


def pipeline():
    files = tf.data.Dataset.from_tensor_slices(sorted(glob.glob(os.path.join(folder, "slow", "*.jpg"))))
    records = tf.data.Dataset.from_tensor_slices(sorted(glob.glob(os.path.join(folder, "slow", "*.records"))))
    if kind in ("reads", "reads_own"):
        data = files.map(load, num_parallel_calls=8).batch(BATCH).prefetch(4)
        return with_options(data, 8) if kind == "reads_own" else data
    if kind in ("records", "records_four"):
        return records.interleave(lambda path: tf.data.TFRecordDataset(path, buffer_size=4096), cycle_length=4,
                                  num_parallel_calls=4 if kind == "records_four" else None).map(
            decode, num_parallel_calls=AUTO).batch(BATCH).prefetch(AUTO)
    if kind == "hues":
        return files.map(load, num_parallel_calls=AUTO).map(hues, num_parallel_calls=AUTO).batch(BATCH).prefetch(AUTO)
    if kind == "python":
        return files.map(lambda path: tf.numpy_function(python, [path], tf.float32),
                         num_parallel_calls=AUTO).batch(BATCH).prefetch(AUTO)
    if kind in ("asleep", "asleep_wide"):
        data = files.map(lambda path: tf.py_function(asleep, [path], tf.float32),
                         num_parallel_calls=AUTO if kind == "asleep" else 16).batch(BATCH).prefetch(AUTO)
        return with_options(data, 16) if kind == "asleep_wide" else data
    if kind in ("generators", "generators_four"):
        data = tf.data.Dataset.range(4).interleave(
            lambda part: tf.data.Dataset.from_generator(
                generate, output_signature=tf.TensorSpec((64,), tf.float32)).take(IMAGES // 4), cycle_length=4,
            num_parallel_calls=4 if kind == "generators_four" else None).batch(BATCH).prefetch(2)
        return with_options(data, 4) if kind == "generators_four" else data
    if kind in ("unhurried", "unhurried_ahead"):  # left to itself, TensorFlow adds a prefetch() here
        data = with_options(tf.data.Dataset.from_generator(
            generate, output_signature=tf.TensorSpec((64,), tf.float32)).batch(1), autotune=False)
        return data.prefetch(2) if kind == "unhurried_ahead" else data
    if kind == "tiny":
        return tf.data.Dataset.range(IMAGES * 500).map(lambda x: x * 2).batch(2000).prefetch(AUTO)
    if kind == "tiny_whole":
        return tf.data.Dataset.range(IMAGES * 500).batch(2000).map(lambda x: x * 2).prefetch(AUTO)
    if kind == "generator":
        return tf.data.Dataset.from_generator(
            generate, output_signature=tf.TensorSpec((64,), tf.float32)).batch(BATCH).prefetch(2)
    if kind == "cache":  # no epoch reads it to its end, so nothing is kept
        return files.map(load, num_parallel_calls=AUTO).map(hues, num_parallel_calls=AUTO).cache().take(
            IMAGES // 2).batch(BATCH).prefetch(AUTO)
    if kind in ("cache_whole", "cache_anew"):
        return files.take(IMAGES // 2).map(load, num_parallel_calls=AUTO).map(
            hues, num_parallel_calls=AUTO).cache().batch(BATCH).prefetch(AUTO)
    return files.map(load, num_parallel_calls=AUTO).batch(BATCH).prefetch(AUTO)


def fit(data):
    model = tf.keras.Sequential([tf.keras.Input((SIDE, SIDE, 3)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    data = data.map(lambda image: (image, tf.zeros([tf.shape(image)[0], 1])), num_parallel_calls=AUTO)
    model.fit(data, epochs=2, verbose=0)


def many():
    """Iterators that come and go: their addresses are given to others."""
    data, total = tf.data.Dataset.range(4).map(lambda x: x * 2, num_parallel_calls=2).batch(2).repeat(3).prefetch(1), 0
    for _ in range(int(os.environ.get("TEST_ITERATORS", 1000))):
        for batch in data:
            total += int(batch[0])
    return total


def loop(data):
    """Iterates the pipeline; cache_anew makes it anew for each epoch, as code that makes it in the loop does."""
    digest, first, waited, batches, iterator, dropped = hashlib.sha256(), None, 0, 0, None, 0
    for _ in range(4 if kind.startswith("cache") else 1):
        begin = time.perf_counter()
        iterator = None  # this takes up to 2 s at times
        dropped += time.perf_counter() - begin
        data = pipeline() if kind == "cache_anew" else data
        iterator = iter(data)
        while True:
            begin = time.perf_counter()
            batch = next(iterator, None)
            end = time.perf_counter()
            first = first or end
            if batch is None:
                break
            waited += end - begin if batches else 0
            batches += 1
            digest.update(batch.numpy().tobytes())
            time.sleep(STEP_S)
    return {"s": end - first - dropped, "waited_s": waited, "batches": batches, "digest": digest.hexdigest()}


if not os.path.exists(os.path.join(folder, "slow")):
    make()
if kind == "make":
    sys.exit()
if kind == "fit":
    fit(pipeline())
elif kind == "many":
    print(json.dumps({"total": many()}))
elif kind == "profiled":
    tf.profiler.experimental.start(sys.argv[3])
    found = loop(pipeline())
    tf.profiler.experimental.stop()
    print(json.dumps(found))
else:
    print(json.dumps(loop(pipeline())))
