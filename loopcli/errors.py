"""The exceptions that carry a message for the user."""


class LoopcheckError(Exception):
    """Base of every error that ends a command with one clear line a defect."""


class ConfigError(LoopcheckError):
    """A configuration that cannot be armed as written.

    ``defects`` has one sentence for each thing that is wrong, so that a user
    mends them all at once instead of meeting them one by one.
    """

    def __init__(self, *defects: str) -> None:
        super().__init__("\n".join(defects))
        self.defects = defects


def reason(error: Exception) -> str:
    """Return why a document could not be parsed, without what only a programmer can act upon.

    >>> reason(RecursionError("maximum recursion depth exceeded"))
    'nested too deeply'
    """
    if isinstance(error, RecursionError):
        return "nested too deeply"
    # Python's own message names the function that would lift the limit.
    return "a number has too many digits" if "set_int_max_str_digits" in str(error) else str(error)
