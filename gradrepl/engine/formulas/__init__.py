"""What formulas call when one expression is not enough, a family a file. They run on tensors, so that they can be differentiated."""

from gradrepl.engine.formulas import general
