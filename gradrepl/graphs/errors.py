"""What can be wrong with a request to see a graph: one exception, whose message is one line. Imports nothing of the project."""


class GraphError(ValueError):
    """Nothing to draw, nowhere to draw it, or an option that does not exist; the message says what to do next."""
