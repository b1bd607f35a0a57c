"""torch.serialization: save and load, in PyTorch's zip format. A file is data: by default nothing in it can run code."""

__name__ = __name__.removeprefix("gradrepl.")

import contextlib
import io
import os
import pickle
import sys
import uuid
import zipfile

from gradrepl.engine.dtypes import device
from gradrepl.torch import _pickles

OPTIONS = (
    "(1) In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` from `False` to `True`. Re-running "
    "`torch.load` with `weights_only` set to `False` will likely succeed, but it can result in arbitrary code execution. Do it only if you "
    "got the file from a trusted source."
)
FAILED = (
    "Weights only load failed. This file can still be loaded, to do so you have two options, \033[1mdo those steps only if you trust the "
    f"source of the checkpoint\033[0m. \n\t{OPTIONS}\n\t(2) Alternatively, to load with `weights_only=True` please check the recommended "
    "steps in the following error message.\n\tWeightsUnpickler error: {}\n\n"
)
BLOCKED = f"Weights only load failed. {OPTIONS[4:]}\n\n\n{{}}\n\n"
UNFORESEEN = (
    f"Weights only load failed. {OPTIONS[4:]}\nPlease file an issue with the following so that we can make `weights_only=True` compatible "
    "with your use case: WeightsUnpickler error: \n\n{}\n\n"
)
DOCUMENTED = (
    "Check the documentation of torch.load to learn more about types accepted by default with weights_only "
    "https://pytorch.org/docs/stable/generated/torch.load.html."
)
NO_CUDA = (
    "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are running on a CPU-only machine, "
    "please use torch.load with map_location=torch.device('cpu') to map your storages to the CPU."
)
NOT_WHOLE = (
    "PytorchStreamReader failed reading zip archive: {}. This is an internal miniz error. If you are seeing this error, there is a high "
    "likelihood that your checkpoint file is corrupted. This can happen if the checkpoint was not saved properly, was transferred "
    "incorrectly, or the file was modified after saving."
)
LEAST = 22  # bytes of a zip file's directory
NOT_SEEKABLE = (
    "{}. You can only torch.load from a file that is seekable. "
    "Please pre-load the data into a buffer like io.BytesIO and try to load from it instead."
)
MAGIC = 0x1950A86A20F9469CFC6C  # what the format before zip files starts with


def save(obj, f, pickle_module=pickle, pickle_protocol=2, _use_new_zipfile_serialization=True, _disable_byteorder_record=False):
    """Write an object to a file or file-like `f`."""
    if isinstance(f, (str, os.PathLike)):
        name = os.path.splitext(os.path.basename(os.fspath(f)))[0]
        with open(f, "wb") as file:
            return write(obj, file, name, pickle_protocol)
    if not hasattr(f, "write"):
        raise AttributeError("expected 'f' to be string, path, or a file-like object with a 'write' attribute")
    return write(obj, f, "archive", pickle_protocol)


def write(obj, file, name, protocol):
    data = io.BytesIO()
    writer = _pickles.Writer(data, protocol)
    writer.dump(obj)
    records = {"data.pkl": data.getvalue(), ".format_version": b"1", ".storage_alignment": b"64", "byteorder": sys.byteorder.encode()}
    records |= {f"data/{key}": flat.tobytes() for key, flat in writer.storages.values()}
    records |= {"version": b"3\n", ".data/serialization_id": str(uuid.uuid4().int).rjust(40, "0")[:40].encode()}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for path, content in records.items():
            archive.writestr(f"{name}/{path}", content)


def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **pickle_load_args):
    """Read what `save` wrote. Unless `weights_only` is False, a file that needs more than tensors and containers is refused."""
    check_location(map_location)
    if mmap and not isinstance(f, (str, os.PathLike)):
        raise ValueError("f must be a file path in order to use the mmap argument")
    for unknown in pickle_load_args.keys() - {"encoding", "errors", "fix_imports"}:
        raise TypeError(f"Unpickler.__init__() got an unexpected keyword argument '{unknown}'")
    safe = weights_only is None and pickle_module is None or bool(weights_only)
    with opened(f) as file:
        start = file.tell()
        is_zip = file.read(4) == b"PK\x03\x04"
        file.seek(start)
        try:
            return read(file, safe) if is_zip else read_old(file, safe)
        except pickle.UnpicklingError as error:
            if not safe:
                raise
            told = str(error)
            text = BLOCKED if " is blocked" in told else FAILED if "not an allowed global" in told else UNFORESEEN
            raise pickle.UnpicklingError(text.format(error) + DOCUMENTED) from None


@contextlib.contextmanager
def opened(f):
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            yield file
        return
    for needed in ("seek", "tell", "read"):
        if not hasattr(f, needed):
            raise AttributeError(NOT_SEEKABLE.format(f"'{type(f).__name__}' object has no attribute '{needed}'"))
    yield f


def check_location(location):
    if isinstance(location, (str, device)) and device(location).type == "cuda":
        raise RuntimeError(NO_CUDA)


def read(file, safe):
    try:
        archive = zipfile.ZipFile(file)
    except zipfile.BadZipFile:
        size = file.seek(0, os.SEEK_END)
        raise RuntimeError(NOT_WHOLE.format("not a ZIP archive" if size < LEAST else "failed finding central directory")) from None
    with archive:
        root = root_of(archive)
        byteorder = archive.read(root + "byteorder").decode() if root + "byteorder" in archive.namelist() else "little"
        arrays: dict = {}

        def storage(kind, key, count):
            if key not in arrays:
                arrays[key] = _pickles.flat_array(archive.read(f"{root}data/{key}"), kind, byteorder)
            return arrays[key]

        kind = _pickles.DataReader if safe else _pickles.Reader
        return kind(io.BytesIO(archive.read(root + "data.pkl")), storage).load()


def root_of(archive):
    """The directory that everything is in, with its slash."""
    first = archive.namelist()[0]
    if "/" not in first:
        raise RuntimeError(f"[enforce fail at inline_container.cc:180] . file in archive is not in a subdirectory: {first}")
    return first[: first.index("/") + 1]


def read_old(file, safe):
    """The format before zip files: several pickles, then the storages."""
    arrays: dict = {}

    def storage(kind, key, count):
        return arrays.setdefault(key, _pickles.flat_array(bytes(count * kind.itemsize), kind, sys.byteorder))

    kind = _pickles.DataReader if safe else _pickles.Reader
    if kind(file, storage).load() != MAGIC:
        raise RuntimeError("Invalid magic number; corrupt file?")
    kind(file, storage).load(), kind(file, storage).load()  # the protocol and facts about the machine
    result, keys = kind(file, storage).load(), kind(file, storage).load()
    for key in keys:
        count = int.from_bytes(file.read(8), "little")
        arrays[key][:count] = _pickles.flat_array(file.read(count * arrays[key].itemsize), dtype_of(arrays[key]), "little")
    return result


def dtype_of(array):
    from gradrepl.engine.dtypes import OF_ARRAY

    return OF_ARRAY[array.dtype]


def add_safe_globals(safe_globals):
    """Let files name these classes and functions from now on."""
    _pickles.SAFE.update(safe_globals)


def get_safe_globals():
    return list(_pickles.SAFE)


def clear_safe_globals():
    _pickles.SAFE.clear()


@contextlib.contextmanager
def safe_globals(safe_globals):
    """Let files name these classes and functions in this block."""
    before = set(_pickles.SAFE)
    add_safe_globals(safe_globals)
    try:
        yield
    finally:
        _pickles.SAFE.clear()
        _pickles.SAFE.update(before)
