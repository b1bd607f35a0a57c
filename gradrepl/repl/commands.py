"""Session commands: `%name` and `obj?`."""


def as_command(source):
    return None
