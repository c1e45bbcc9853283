# SPDX-License-Identifier: Apache-2.0
"""Generates a folder of JPEG photographs that are not: ten classes, random sizes, one seed.

usage: make_images.py FOLDER [--count 2000] [--seed 1] [--scale 1]
"""
import argparse
import os
import random

from PIL import Image

CLASSES = 10
SCENES = 4  # of each class; an image is a part of one
SMALLEST, LARGEST = 200, 640


def noise(rng, mode, width, height):
    size = width * height * len(mode)
    return Image.frombytes(mode, (width, height), rng.getrandbits(8 * size).to_bytes(size, "big"))


def draw(rng, label):
    """Smooth blobs in the colour of the class, with grain: as hard to decode as a photograph."""
    size = LARGEST, LARGEST
    small = noise(rng, "RGB", 16, 16)
    grain = noise(rng, "L", LARGEST // 2, LARGEST // 2).resize(size)
    tint = Image.new("HSV", size, (label * 255 // CLASSES, 200, 200)).convert("RGB")
    image = Image.blend(small.resize(size, Image.BICUBIC), tint, 0.5)
    return Image.blend(image, grain.convert("RGB"), 0.1)


def part(rng, scene):
    width, height = rng.randint(SMALLEST, LARGEST), rng.randint(SMALLEST, LARGEST)
    left, top = rng.randint(0, LARGEST - width), rng.randint(0, LARGEST - height)
    return scene.crop((left, top, left + width, top + height))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scale", type=float, default=1, help="0.5: the same images, half as wide")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    scenes = [draw(rng, label) for _ in range(SCENES) for label in range(CLASSES)]
    for i in range(options.count):
        label = i % CLASSES
        folder = os.path.join(options.folder, "class{}".format(label))
        os.makedirs(folder, exist_ok=True)
        image = part(rng, scenes[i % len(scenes)])
        if options.scale != 1:
            image = image.resize([max(1, round(side * options.scale)) for side in image.size])
        image.save(os.path.join(folder, "{:05}.jpg".format(i)), quality=90)


if __name__ == "__main__":
    main()
