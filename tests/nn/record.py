"""Record what PyTorch prints in the programs: python tests/nn/record.py [NAME…], all without names."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from tests.nn.test_programs import NAMES, PROGRAMS, printed  # noqa: E402

for name in sys.argv[1:] or NAMES:
    (PROGRAMS / f"{name}.txt").write_text("\n".join(printed([sys.executable], name)) + "\n")
    print(name)
