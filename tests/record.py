"""Record what PyTorch answers to families of samples and prints in programs: python tests/record.py [NAME…], all without names."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))


def record(names):
    import torch

    from tests.oracle import PROGRAMS, RECORDED, answer, families, family, printed

    for path in sorted(PROGRAMS.glob("*.py")):
        if not names or path.stem in names:
            path.with_suffix(".txt").write_text("\n".join(printed(torch, path.stem)) + "\n")
            print(f"{path.stem}: program")
    for name in families():
        if names and name not in names:
            continue
        samples, setup = family(name)
        lines = [f"{json.dumps(sample)}: {json.dumps(answer(torch, sample, setup))}" for sample in samples]
        (RECORDED / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
        print(f"{name}: {len(lines)} samples")


if __name__ == "__main__":
    record(sys.argv[1:])
