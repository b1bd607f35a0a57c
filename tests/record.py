"""Record what PyTorch answers to the samples of some families (all without arguments): python tests/record.py [FAMILY…]."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))


def record(names):
    import torch

    from tests.oracle import RECORDED, answer, families, family

    for name in names or families():
        samples, setup = family(name)
        lines = [f"{json.dumps(sample)}: {json.dumps(answer(torch, sample, setup))}" for sample in samples]
        (RECORDED / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
        print(f"{name}: {len(lines)} samples")


if __name__ == "__main__":
    record(sys.argv[1:])
