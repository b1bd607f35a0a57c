"""Why there is no gradient: the rules for a tensor whose `.grad` is None, the surest first. Imports them."""

from gradrepl.insight.causes import not_asked, not_leaf, not_reached

RULES = (
    not_asked.not_differentiable,
    not_leaf.renamed,
    not_leaf.converted_copy,
    not_leaf.late_retain,
    not_leaf.intermediate,
    not_asked.misspelt,
    not_asked.is_a_gradient,
    not_asked.switched_off,
    not_asked.cut_itself,
    not_asked.never_required,
    not_reached.cleared,
    not_reached.no_backward,
    not_reached.only_inputs,
    not_reached.required_too_late,
    not_reached.cut_on_the_way,
    not_reached.cut_seen,
    not_reached.replaced,
    not_reached.other_root,
    not_reached.unused,
)
