"""The one exception for mistakes a user can make."""


class InputError(ValueError):
    """Something given from outside is wrong: a card, a range, a game file, a setting.

    The message names the value and what was expected. Programs print it as one line and exit
    with status 2; anything else that escapes is a bug and keeps its traceback.
    """
