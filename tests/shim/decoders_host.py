# SPDX-License-Identifier: Apache-2.0
"""Decodes with the installed libraries; prints, as JSON, what dlprof must have recorded.

usage: decoders_host.py GROUP: [[library, format, width class, count, pixels, bytes or null], ...], or
null where the library is not installed.
"""
import ctypes
import ctypes.util
import gzip
import io
import json
import sys
import zlib

SIZES = {512: (300, 200), 1024: (1000, 700)}


def load(name):
    """Loads a library by its file's name, as ctypes users do; None: it is not installed."""
    try:
        return ctypes.CDLL(name)
    except OSError:
        return None


def picture(size):
    from PIL import Image
    image = Image.new("RGB", size)
    image.putdata([(i * 7 % 256, i // 256 % 256, i % 251) for i in range(size[0] * size[1])])
    return image


def encoded(size, kind, **options):
    data = io.BytesIO()
    picture(size).save(data, kind, **options)
    return data.getvalue()


def pil_load(data):
    from PIL import Image
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


def broken(data):
    """A JPEG whose Huffman table makes no sense: libjpeg leaves it by longjmp()."""
    copy = bytearray(data)
    at = copy.find(b"\xff\xc4")
    copy[at + 5:at + 21] = b"\xff" * 16
    return bytes(copy)


def jpeg(rounds=3):
    seen = []
    for width_class, size in SIZES.items():
        files = [encoded(size, "JPEG"), encoded(size, "JPEG", progressive=True)]
        for data in files * rounds:
            pil_load(data)
        count = len(files) * rounds
        seen.append(["libjpeg", "JPEG", width_class, count, count * size[0] * size[1],
                     rounds * sum(map(len, files))])
    return seen


def in_turns():
    """Six images that a load decodes in turns, a quarter of each at once: more than are followed."""
    from PIL import ImageFile
    from torch.utils.data import DataLoader
    files = [encoded(size, "JPEG") for size in SIZES.values()] * 3

    def decode(_):
        parsers = [ImageFile.Parser() for _ in files]
        for quarter in range(4):
            for parser, data in zip(parsers, files):
                parser.feed(data[quarter * len(data) // 4:(quarter + 1) * len(data) // 4])
        for parser, data in zip(parsers, files):
            assert parser.close().tobytes() == pil_load(data).tobytes()
    list(DataLoader([0], collate_fn=decode))
    return [["libjpeg", "JPEG", width_class, 6, 6 * size[0] * size[1], 6 * len(data)]
            for (width_class, size), data in zip(SIZES.items(), files)]


def corrupt_jpeg():
    size = SIZES[512]
    data = encoded(size, "JPEG")
    errors = 0
    for _ in range(5):
        try:
            pil_load(broken(data))
        except OSError:
            errors += 1
        pil_load(data)
    assert errors == 5, errors
    return [["libjpeg", "JPEG", 512, 5, 5 * size[0] * size[1], 5 * len(data)]]


def webp():
    seen = []
    for width_class, size in SIZES.items():
        data = encoded(size, "WEBP")
        for _ in range(2):
            pil_load(data)
        seen.append(["libwebp", "WebP", width_class, 2, 2 * size[0] * size[1], None])
    library = load("libwebp.so.7")
    library.WebPDecodeRGBA.restype = ctypes.c_void_p
    width, height = ctypes.c_int(), ctypes.c_int()
    for data in (encoded((2000, 100), "WEBP"), encoded((2000, 100), "WEBP", lossless=True)):
        assert library.WebPDecodeRGBA(data, ctypes.c_size_t(len(data)), ctypes.byref(width),
                                      ctypes.byref(height))
        seen.append(["libwebp", "WebP", 2048, 1, 200000, len(data)])
    assert not library.WebPDecodeRGBA(b"RIFF" + b"x" * 60, ctypes.c_size_t(64),
                                      ctypes.byref(width), ctypes.byref(height))
    merged = seen[:-2] + [["libwebp", "WebP", 2048, 2, 400000, seen[-1][5] + seen[-2][5]]]
    return merged


def tiff():
    seen = []
    for width_class, size in SIZES.items():
        files = [encoded(size, "TIFF", compression=kind)
                 for kind in ("tiff_lzw", "tiff_adobe_deflate", "jpeg")]
        for data in files * 2:
            pil_load(data)
        seen.append(["libtiff", "TIFF", width_class, 6, 6 * size[0] * size[1], None])
    pages = encoded((100, 50), "TIFF", compression="tiff_lzw", save_all=True,
                    append_images=[picture((100, 50))] * 2)
    image = pil_load(pages)
    for page in range(3):
        image.seek(page)
        image.load()
    seen.append(["libtiff", "TIFF", 128, 3, 3 * 5000, None])
    return seen


def png():
    """Pillow has its own PNG decoder, which uses zlib."""
    data = encoded(SIZES[512], "PNG")
    for _ in range(4):
        pil_load(data)
    return [["zlib", "deflate", 0, 4, 0, None]]


def torch():
    import torch as framework
    from torchvision import io as codecs
    seen = []
    for width_class, size in SIZES.items():
        jpeg_data, png_data = encoded(size, "JPEG"), encoded(size, "PNG")
        for data, decode in ((jpeg_data, codecs.decode_jpeg), (png_data, codecs.decode_png)):
            tensor = framework.frombuffer(bytearray(data), dtype=framework.uint8)
            for _ in range(3):
                assert decode(tensor).shape[1:] == (size[1], size[0])
            try:
                decode(tensor[:30])
                raise AssertionError("decoded a stump")
            except RuntimeError:
                pass
        pixels = 3 * size[0] * size[1]
        seen.append(["libjpeg", "JPEG", width_class, 3, pixels, 3 * len(jpeg_data)])
        seen.append(["libpng", "PNG", width_class, 3, pixels, None])
    return seen


def packed():
    text = bytes(range(256)) * 4000
    data = zlib.compress(text)
    for _ in range(5):
        assert zlib.decompress(data) == text
    try:
        zlib.decompress(data[:100] + b"\0" * 50 + data[150:])
    except zlib.error:
        pass
    stream = zlib.decompressobj()
    assert b"".join(stream.decompress(data[i:i + 100]) for i in range(0, len(data), 100)) == text
    assert gzip.decompress(gzip.compress(text)) == text
    # The stream that fails counts too: zlib took in bytes before that.
    seen = [["zlib", "deflate", 0, 7, 0, None]]
    out = ctypes.create_string_buffer(len(text))
    library = load("libz.so.1")
    size = ctypes.c_ulong(len(text))
    assert library.uncompress(out, ctypes.byref(size), data, ctypes.c_ulong(len(data))) == 0
    seen[0][3] += 1
    library = load("libzstd.so.1")
    if library:
        for name in ("ZSTD_compress", "ZSTD_decompress"):
            getattr(library, name).restype = ctypes.c_size_t
        room = ctypes.create_string_buffer(len(text) + 1000)
        size = library.ZSTD_compress(room, ctypes.c_size_t(len(room)), text,
                                     ctypes.c_size_t(len(text)), 3)
        for _ in range(4):
            assert library.ZSTD_decompress(out, ctypes.c_size_t(len(text)), room,
                                           ctypes.c_size_t(size)) == len(text)
        assert library.ZSTD_decompress(out, ctypes.c_size_t(len(text)), b"junkjunk",
                                       ctypes.c_size_t(8)) > 1 << 63
        seen.append(["zstd", "zstd", 0, 4, 0, 4 * size + 8])
    library = load("liblz4.so.1")
    if library:
        room = ctypes.create_string_buffer(len(text) + 10000)
        size = library.LZ4_compress_default(text, room, len(text), len(room))
        for _ in range(3):
            assert library.LZ4_decompress_safe(room, out, size, len(text)) == len(text)
        assert library.LZ4_decompress_safe(b"\xff" * 8, out, 8, 10) < 0
        seen.append(["lz4", "LZ4", 0, 3, 0, 3 * size + 8])
    return seen


def unpacked():
    """Unpacks by Python's modules, whole and in pieces, and tries to unpack what is not packed."""
    import bz2
    import lzma
    text, seen = bytes(range(256)) * 4000, []
    for name, library, kind in ((bz2, "bzip2", "bzip2"), (lzma, "liblzma", "xz")):
        data, junk = name.compress(text), b"junk" * 50
        for _ in range(3):
            assert name.decompress(data) == text
        stream = (name.BZ2Decompressor if name is bz2 else name.LZMADecompressor)()
        assert b"".join(stream.decompress(data[i:i + 50]) for i in range(0, len(data), 50)) == text
        try:
            name.decompress(junk)
            raise AssertionError("unpacked junk")
        except (OSError, lzma.LZMAError):
            pass
        # liblzma packs by the same function, so that packing counts as well.
        seen.append([library, kind, 0, 4 + (name is lzma), 0, None])
    return seen


def turbo():
    library = load("libturbojpeg.so.0")
    if not library:
        return None
    library.tjInitDecompress.restype = ctypes.c_void_p
    handle = ctypes.c_void_p(library.tjInitDecompress())
    size = SIZES[1024]
    data = encoded(size, "JPEG")
    out = ctypes.create_string_buffer(size[0] * size[1] * 3)
    for picked in [data] * 3 + [broken(data)]:
        status = library.tjDecompress2(handle, picked, ctypes.c_ulong(len(picked)), out, 0, 0, 0,
                                       0, 0)
        assert (status == 0) == (picked is data)
    return [["turbojpeg", "JPEG", 1024, 3, 3 * size[0] * size[1], 4 * len(data)]]


def video():
    codec, util = load("libavcodec.so.59"), load("libavutil.so.57")
    if not codec or not util:
        return None
    for function in (codec.avcodec_find_decoder_by_name, codec.avcodec_alloc_context3,
                     codec.av_packet_alloc, util.av_frame_alloc):
        function.restype = ctypes.c_void_p
    util.av_log_set_level(-8)
    kind = ctypes.c_void_p(codec.avcodec_find_decoder_by_name(b"mjpeg"))
    context = ctypes.c_void_p(codec.avcodec_alloc_context3(kind))
    assert codec.avcodec_open2(context, kind, None) == 0
    packet, frame = ctypes.c_void_p(codec.av_packet_alloc()), ctypes.c_void_p(util.av_frame_alloc())
    size = SIZES[512]
    data = encoded(size, "JPEG")
    for _ in range(6):
        assert codec.av_new_packet(packet, len(data)) == 0
        # buf, pts, dts, data
        target = ctypes.cast(packet, ctypes.POINTER(ctypes.c_void_p))[3]
        ctypes.memmove(target, data, len(data))
        assert codec.avcodec_send_packet(context, packet) == 0
        assert codec.avcodec_receive_frame(context, frame) == 0
        assert codec.avcodec_receive_frame(context, frame) < 0
        codec.av_packet_unref(packet)
    return [["libavcodec", "video", 512, 6, 6 * size[0] * size[1], 6 * len(data)]]


def film():
    """Opening a film and seeking in it counts as time of the decoder, but as no frame."""
    form, codec = load("libavformat.so.59"), load("libavcodec.so.59")
    if not form or not codec:
        return None
    import tempfile
    import wave
    codec.av_packet_alloc.restype = ctypes.c_void_p
    context, packet = ctypes.c_void_p(), ctypes.c_void_p(codec.av_packet_alloc())
    with tempfile.NamedTemporaryFile(suffix=".wav") as file:
        with wave.open(file.name, "wb") as out:
            out.setparams((1, 2, 8000, 0, "NONE", ""))
            out.writeframes(bytes(80000))
        assert form.avformat_open_input(ctypes.byref(context), file.name.encode(), None, None) == 0
        assert form.avformat_find_stream_info(context, None) >= 0
        assert form.av_read_frame(context, packet) == 0
        assert form.av_seek_frame(context, 0, ctypes.c_int64(20000), 0) >= 0
        assert form.av_read_frame(context, packet) == 0
        form.avformat_close_input(ctypes.byref(context))
    return [["libavformat", "packets", 0, 0, 0, 0]]


def sound():
    library = load("libsndfile.so.1")
    if not library:
        return None
    import tempfile
    import wave
    library.sf_open.restype = ctypes.c_void_p
    library.sf_readf_float.restype = library.sf_seek.restype = ctypes.c_int64
    with tempfile.NamedTemporaryFile(suffix=".wav") as file:
        with wave.open(file.name, "wb") as out:
            out.setparams((1, 2, 8000, 0, "NONE", ""))
            out.writeframes(bytes(8000))
        info = ctypes.create_string_buffer(64)
        samples = (ctypes.c_float * 4000)()
        for _ in range(3):
            handle = ctypes.c_void_p(library.sf_open(file.name.encode(), 0x10, info))
            for _ in range(4):
                assert library.sf_readf_float(handle, samples, ctypes.c_int64(1000)) == 1000
            assert library.sf_seek(handle, ctypes.c_int64(500), 0) == 500
            library.sf_close(handle)
    assert not library.sf_open(b"/nonexistent", 0x10, info)
    return [["libsndfile", "audio", 0, 3, 0, None]]


def deflate():
    library = load("libdeflate.so.0")
    if not library:
        return None
    text = bytes(range(256)) * 100
    library.libdeflate_alloc_decompressor.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.libdeflate_alloc_decompressor())
    out = ctypes.create_string_buffer(len(text))
    files = {"zlib": zlib.compress(text), "gzip": gzip.compress(text),
             "deflate": zlib.compress(text)[2:-4]}
    for kind, data in files.items():
        decompress = getattr(library, "libdeflate_{}_decompress".format(kind))
        for picked in (data, data, b"\xff" * 50):
            status = decompress(context, picked, ctypes.c_size_t(len(picked)), out,
                                ctypes.c_size_t(len(text)), None)
            assert (status == 0) == (picked is data), (kind, status)
        assert out.raw == text
    return [["libdeflate", "deflate", 0, 6, 0, 150 + 2 * sum(map(len, files.values()))]]


def charls():
    library = load("libcharls.so.2")
    if not library:
        return None
    for side in ("encoder", "decoder"):
        getattr(library, "charls_jpegls_{}_create".format(side)).restype = ctypes.c_void_p
    pixels, room = bytes(range(250)) * 80, ctypes.create_string_buffer(100000)
    size = ctypes.c_size_t()
    encoder = ctypes.c_void_p(library.charls_jpegls_encoder_create())
    frame = (ctypes.c_uint32 * 4)(200, 100, 8, 1)  # width, height, bits, components
    assert not library.charls_jpegls_encoder_set_frame_info(encoder, frame)
    assert not library.charls_jpegls_encoder_set_destination_buffer(encoder, room,
                                                                    ctypes.c_size_t(len(room)))
    assert not library.charls_jpegls_encoder_encode_from_buffer(
        encoder, pixels, ctypes.c_size_t(len(pixels)), 0)
    assert not library.charls_jpegls_encoder_get_bytes_written(encoder, ctypes.byref(size))
    out = ctypes.create_string_buffer(len(pixels))
    for taken in (size.value, size.value, size.value // 2):
        decoder = ctypes.c_void_p(library.charls_jpegls_decoder_create())
        assert not library.charls_jpegls_decoder_set_source_buffer(decoder, room,
                                                                   ctypes.c_size_t(taken))
        assert not library.charls_jpegls_decoder_read_header(decoder)
        status = library.charls_jpegls_decoder_decode_to_buffer(
            decoder, out, ctypes.c_size_t(len(out)), 0)
        assert (status == 0) == (taken == size.value), status
    return [["CharLS", "JPEG-LS", 0, 2, 0, 0]]


def jxl():
    library = load("libjxl.so.0.7")
    if not library:
        return None
    for name in ("JxlEncoderCreate", "JxlEncoderFrameSettingsCreate", "JxlDecoderCreate"):
        getattr(library, name).restype = ctypes.c_void_p
    width, height = SIZES[512]
    pixels = picture((width, height)).tobytes()
    plain = ctypes.create_string_buffer(24)  # three channels of bytes
    plain[0:8] = b"\3\0\0\0\2\0\0\0"
    encoder = ctypes.c_void_p(library.JxlEncoderCreate(None))
    info = (ctypes.c_uint32 * 256)()
    library.JxlEncoderInitBasicInfo(info)
    info[1], info[2] = width, height
    colours = ctypes.create_string_buffer(1024)
    library.JxlColorEncodingSetToSRGB(colours, 0)
    assert not library.JxlEncoderSetBasicInfo(encoder, info)
    assert not library.JxlEncoderSetColorEncoding(encoder, colours)
    settings = ctypes.c_void_p(library.JxlEncoderFrameSettingsCreate(encoder, None))
    assert not library.JxlEncoderAddImageFrame(settings, plain, pixels,
                                               ctypes.c_size_t(len(pixels)))
    library.JxlEncoderCloseInput(encoder)
    room = ctypes.create_string_buffer(1 << 20)
    at, left = ctypes.c_void_p(ctypes.addressof(room)), ctypes.c_size_t(len(room))
    assert not library.JxlEncoderProcessOutput(encoder, ctypes.byref(at), ctypes.byref(left))
    data = room.raw[:len(room) - left.value]
    out = ctypes.create_string_buffer(len(pixels))
    error, success, wants_room, whole = 1, 0, 5, 4096
    for picked in (data, data, b"\xff" * 100):
        decoder = ctypes.c_void_p(library.JxlDecoderCreate(None))
        assert not library.JxlDecoderSubscribeEvents(decoder, whole)
        assert not library.JxlDecoderSetInput(decoder, picked, ctypes.c_size_t(len(picked)))
        seen = [library.JxlDecoderProcessInput(decoder)]
        while seen[-1] not in (success, error):
            if seen[-1] == wants_room:
                assert not library.JxlDecoderSetImageOutBuffer(decoder, plain, out,
                                                               ctypes.c_size_t(len(out)))
            seen.append(library.JxlDecoderProcessInput(decoder))
        assert seen == ([wants_room, whole, success] if picked is data else [error]), seen
    return [["libjxl", "JPEG XL", 0, 2, 0, 0]]


def main():
    groups = (jpeg, in_turns, corrupt_jpeg, webp, tiff, png, torch, packed, unpacked, turbo, video, film,
              sound, deflate, charls, jxl)
    print(json.dumps({group.__name__: group for group in groups}[sys.argv[1]]()))


main()
