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
