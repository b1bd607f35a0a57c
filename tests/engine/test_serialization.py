"""torch.save and torch.load: what is written comes back, PyTorch reads it, and a file is data."""

import collections
import copy
import io
import pickle
import zipfile

import pytest

from gradrepl import torch


def saved(thing, **options):
    buffer = io.BytesIO()
    torch.save(thing, buffer, **options)
    buffer.seek(0)
    return buffer


def again(thing, **options):
    return torch.load(saved(thing), **options)


@pytest.mark.parametrize("dtype", "float16 float32 float64 complex64 complex128 uint8 int8 int16 int32 int64 bool".split())
def test_every_dtype(dtype):
    x = torch.tensor([[0, 1, 2], [3, 4, 5]]).to(getattr(torch, dtype))
    y = again(x)
    assert y.dtype is x.dtype
    assert torch.equal(x, y)


def test_containers_and_plain_values():
    thing = {
        "a": torch.ones(2),
        "b": [1, 2.5, "x", None, True, (3,)],
        "s": torch.Size([2, 3]),
        "d": torch.float32,
        "c": torch.device("cpu"),
    }
    found = again(thing)
    assert found.pop("a").tolist() == thing.pop("a").tolist()
    assert found == thing
    assert again({1, 2}) == {1, 2}
    assert again(collections.Counter("aab")) == {"a": 2, "b": 1}
    assert again(collections.OrderedDict(a=1)) == collections.OrderedDict(a=1)


def test_shared_storage_stays_shared():
    x = torch.arange(6.0).view(2, 3)
    a, b = again([x, x.t()])
    assert b.stride() == (1, 3)
    a[0, 1] = 9
    assert b[1, 0] == 9
    assert again(x[1]).untyped_storage().nbytes() == 24


def test_requires_grad_and_parameters():
    assert again(torch.ones(2, requires_grad=True)).requires_grad
    p = again(torch.nn.Parameter(torch.ones(2)))
    assert repr(p) == "Parameter containing:\ntensor([1., 1.], requires_grad=True)"


def test_state_dict_round_trip(tmp_path):
    model = torch.nn.Linear(3, 2)
    torch.save(model.state_dict(), tmp_path / "model.pt")
    other = torch.nn.Linear(3, 2)
    other.load_state_dict(torch.load(tmp_path / "model.pt", weights_only=True))
    assert torch.equal(model.weight, other.weight)


def test_the_records_are_pytorchs(tmp_path):
    torch.save(torch.ones(2), tmp_path / "x.pt")
    archive = zipfile.ZipFile(tmp_path / "x.pt")
    assert archive.namelist() == [
        f"x/{name}" for name in "data.pkl .format_version .storage_alignment byteorder data/0 version .data/serialization_id".split()
    ]
    assert archive.read("x/version") == b"3\n"


class Harmful:
    ran = False

    def __reduce__(self):
        return run, ()


def run():
    Harmful.ran = True


@pytest.mark.parametrize("thing", [Harmful(), print, range(3), {"nested": [Harmful()]}])
def test_a_file_cannot_run_code(thing):
    Harmful.ran = False
    with pytest.raises(pickle.UnpicklingError, match="(?s)Weights only load failed.*was not an allowed global by default"):
        again(thing)
    assert not Harmful.ran


def handmade(*opcodes):
    """A file whose pickle is these bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("archive/data.pkl", b"".join(opcodes))
        archive.writestr("archive/byteorder", b"little")
    buffer.seek(0)
    return buffer


@pytest.mark.parametrize(
    "opcodes",
    [
        (b"\x80\x02", b"cos\nsystem\n", b"X\x04\x00\x00\x00true", b"\x85R."),
        (b"\x80\x02", b"cbuiltins\neval\n", b"X\x01\x00\x00\x001", b"\x85R."),
        (b"\x80\x02", b"(X\x01\x00\x00\x001", b"ibuiltins\neval\n."),
        (b"\x80\x02", b"ctorch\nhub.load\n", b")R."),
        (b"\x80\x02", b"ctorch.serialization\nos.system\n", b"X\x04\x00\x00\x00true", b"\x85R."),
    ],
)
def test_names_in_handmade_files_are_refused(opcodes):
    with pytest.raises((pickle.UnpicklingError, KeyError)):
        torch.load(handmade(*opcodes))


def test_code_runs_only_when_asked_for():
    Harmful.ran = False
    again(Harmful(), weights_only=False)
    assert Harmful.ran


def test_allowed_classes():
    with torch.serialization.safe_globals([Pair]):
        found = again(Pair(1, torch.ones(1)))
    assert (found.a, found.b.item()) == (1, 1.0)
    with pytest.raises(pickle.UnpicklingError):
        again(Pair(1, 2))


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b


def test_errors():
    with pytest.raises(FileNotFoundError):
        torch.load("no_such_file.pt")
    with pytest.raises(AttributeError, match="expected 'f' to be string, path, or a file-like object with a 'write' attribute"):
        torch.save(torch.ones(2), 3)
    with pytest.raises(RuntimeError, match="Attempting to deserialize object on a CUDA device"):
        torch.load(saved(torch.ones(2)), map_location="cuda")
    with pytest.raises(RuntimeError, match="not a ZIP archive"):
        torch.load(io.BytesIO(b"PK\x03\x04 and then nothing"))
    with pytest.raises(RuntimeError, match="failed finding central directory"):
        torch.load(io.BytesIO(saved(torch.ones(2)).getvalue()[:-9]))
    with pytest.raises(ValueError, match="f must be a file path in order to use the mmap argument"):
        torch.load(saved(torch.ones(2)), mmap=True)
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'strict'"):
        torch.load(saved(torch.ones(2)), strict=True)
    with pytest.raises(pickle.UnpicklingError, match=r"Please file an issue.*\n\nUnsupported operand 149"):
        torch.load(saved(torch.ones(2), pickle_protocol=4))
    with pytest.raises(pickle.UnpicklingError, match=r"GLOBAL range was not an allowed global by default"):
        torch.load(saved(range(3)))


def test_bytes():
    assert torch.load(saved([b"ab", bytearray(b"c")])) == [b"ab", bytearray(b"c")]


def test_pickle_and_copies():
    x = torch.ones(2, 3, requires_grad=True)
    assert pickle.loads(pickle.dumps(x)).requires_grad
    assert pickle.loads(pickle.dumps([torch.float32, torch.Size([2]), torch.device("cuda:1")])) == [
        torch.float32,
        torch.Size([2]),
        torch.device("cuda:1"),
    ]
    a, b = copy.deepcopy([x, x.detach().t()])
    assert a.requires_grad
    assert b.stride() == (1, 3)
    b[0, 0] = 7
    assert a[0, 0] == 7
    assert x[0, 0] == 1
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(x * 2)


@pytest.mark.torch
def test_pytorch_reads_it_and_is_read(tmp_path):
    real = pytest.importorskip("torch")
    x = torch.arange(6.0).view(2, 3)
    torch.save({"x": x.t(), "p": torch.nn.Parameter(torch.ones(2)), "n": [1, "a"]}, tmp_path / "ours.pt")
    found = real.load(tmp_path / "ours.pt", weights_only=True)
    assert found["x"].tolist() == x.t().tolist()
    assert found["x"].stride() == (1, 3)
    assert isinstance(found["p"], real.nn.Parameter)
    assert found["n"] == [1, "a"]
    for new in (True, False):
        theirs = {"w": real.arange(4.0).view(2, 2), "b": real.tensor([True]), "h": real.ones(2, dtype=real.float16)}
        real.save(theirs, tmp_path / "theirs.pt", _use_new_zipfile_serialization=new)
        found = torch.load(tmp_path / "theirs.pt")
        assert {name: value.tolist() for name, value in found.items()} == {name: value.tolist() for name, value in theirs.items()}
