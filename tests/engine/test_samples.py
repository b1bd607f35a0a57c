"""Every sample of every family, against what PyTorch answered; where PyTorch is installed, it is asked anew."""

import pytest

from gradrepl import torch as embedded
from tests.oracle import answer, differences, families, family, recorded

CASES = [(name, sample) for name in families() for sample in family(name)[0]]


@pytest.mark.parametrize("name", families())
def test_each_sample_is_recorded_once(name):
    samples = family(name)[0]
    assert sorted(samples) == sorted(recorded(name)), "run python tests/record.py " + name


@pytest.mark.parametrize(("name", "sample"), CASES)
def test_sample(name, sample):
    assert differences(answers(name)[sample], answer(embedded, sample, family(name)[1])) == []


@pytest.mark.torch
@pytest.mark.parametrize("name", families())
def test_recording_is_what_torch_answers(name):
    torch = pytest.importorskip("torch")
    samples, setup = family(name)
    assert [line for sample in samples for line in differences(answers(name)[sample], answer(torch, sample, setup))] == []


def answers(name, kept={}):  # noqa: B006
    if name not in kept:
        kept[name] = recorded(name)
    return kept[name]
