"""Batched tensors, which vmap gives to functions: a tensor with one dimension more than is seen, and a rule for every op.

    tensor.py     what a batched tensor is, and what it shows of itself
    dispatch.py   who is asked for its values comes here: the op's rule runs the op on what is wrapped, without a rule slice by slice
    functions.py  the user's own Functions
    rules.py      the table: which op is batched in which way

Nothing here is imported before the first vmap. An op pays nothing for it: its recorder reads `payload`, which a plain tensor has and a
batched one answers by raising `Batched`; the recorder's handler calls `batched`. What reads `array` instead finds an outline, shape and
dtype of one example without any values, so that functions composed of ops work unchanged as far as they ask for no more.
Levels nest: a batched tensor of an inner vmap wraps one of an outer, and each rule takes one level off.
"""

from gradrepl.engine.batching import (
    composed,
    dispatch,
    factories,
    functions,
    layers,
    losses,
    nests,
    products,
    refusals,
    rules,
    shapes,
    tensor,
)
