"""torch.utils._pytree: nests of tuples, lists and dicts as a list of leaves and a description of the nest. Imports nothing."""

__name__ = __name__.removeprefix("gradrepl.")

from collections import OrderedDict, defaultdict


class TreeSpec:
    """A nest without its leaves. `type` is None for a leaf; `context` tells keys, or the class of a named tuple."""

    def __init__(self, type=None, context=None, children=()):
        self.type, self.context, self.children_specs = type, context, list(children)
        self.num_leaves = sum(child.num_leaves for child in self.children_specs) if type else 1
        self.num_children = len(self.children_specs)

    def __eq__(self, other):
        own = self.type, self.context, self.children_specs
        return isinstance(other, TreeSpec) and own == (other.type, other.context, other.children_specs)

    __hash__ = None  # type: ignore[assignment]

    def is_leaf(self):
        return self.type is None

    def __repr__(self, indent=0):
        if self.type is None:
            return "*"
        before, inner = f"TreeSpec({self.type.__name__}, {self.context}, [", indent + 2
        children = [child.__repr__(inner) for child in self.children_specs]
        return before + (",\n" + " " * inner).join(children) + "])"

    def unflatten(self, leaves):
        return tree_unflatten(leaves, self)


class LeafSpec(TreeSpec):
    """A leaf."""

    def __repr__(self, indent=0):
        return "*"


def children_of(tree):
    """(type, context, children) of one level of a nest; type None for a leaf."""
    kind = type(tree)
    if kind in (dict, OrderedDict, defaultdict):
        return kind, list(tree), list(tree.values())
    if kind in (tuple, list):
        return kind, None, list(tree)
    if isinstance(tree, tuple):  # a named tuple is made from its fields, a Size from a sequence
        return kind, kind if hasattr(tree, "_fields") else None, list(tree)
    return None, None, None


def rebuilt(spec, children):
    if spec.type in (dict, OrderedDict, defaultdict):
        pairs = zip(spec.context, children)
        return defaultdict(None, pairs) if spec.type is defaultdict else spec.type(pairs)
    return spec.type(*children) if spec.context is spec.type else spec.type(children)


def tree_flatten(tree, is_leaf=None):
    """The leaves of a nest in order, and its TreeSpec."""
    kind, context, children = children_of(tree)
    if kind is None or (is_leaf is not None and is_leaf(tree)):
        return [tree], LeafSpec()
    parts = [tree_flatten(child, is_leaf) for child in children]
    return [leaf for leaves, _ in parts for leaf in leaves], TreeSpec(kind, context, [spec for _, spec in parts])


def tree_unflatten(leaves, treespec):
    """The nest of a TreeSpec with these leaves."""
    return build(treespec, iter(leaves))


def build(spec, leaves):
    return next(leaves) if spec.type is None else rebuilt(spec, [build(child, leaves) for child in spec.children_specs])


def tree_leaves(tree, is_leaf=None):
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree, is_leaf=None):
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func, tree, *rests, is_leaf=None):
    """The nest with `func` of each leaf."""
    leaves, spec = tree_flatten(tree, is_leaf)
    return tree_unflatten(list(map(func, leaves, *[tree_leaves(rest, is_leaf) for rest in rests])), spec)


def tree_map_(func, tree, *rests):
    tree_map(func, tree, *rests)
    return tree


def tree_map_only(kind, func, tree, is_leaf=None):
    """The nest with `func` of each leaf of a type."""
    return tree_map(lambda leaf: func(leaf) if isinstance(leaf, kind) else leaf, tree, is_leaf=is_leaf)


def treespec_pprint(spec):
    """A TreeSpec as the nest itself, with stars."""
    return repr(tree_unflatten([Star()] * spec.num_leaves, spec))


class Star:
    def __repr__(self):
        return "*"


def broadcast_to_and_flatten(tree, treespec, is_leaf=None):
    """The leaves of `tree` spread over a larger nest, or None if it does not fit."""
    if treespec.type is None or children_of(tree)[0] is None or (is_leaf is not None and is_leaf(tree)):
        fits = children_of(tree)[0] is None or (is_leaf is not None and is_leaf(tree))
        return [tree] * treespec.num_leaves if fits else None
    kind, context, children = children_of(tree)
    if kind is not treespec.type or context != treespec.context or len(children) != treespec.num_children:
        return None
    parts = [broadcast_to_and_flatten(child, spec, is_leaf) for child, spec in zip(children, treespec.children_specs)]
    return None if any(part is None for part in parts) else [leaf for part in parts for leaf in part]
