"""Completion."""


def complete(text, shell):
    return []
