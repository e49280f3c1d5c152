"""Every way in which geobill says no, on one page.

A message says what is wrong, why it matters and what to do, with both figures where there are two. It is part of
the product: it reaches an analyst or a clerk as it stands. Only the command line (and later the web page's edge)
catches these; anything else that is raised is a fault of the program.
"""


class GeobillError(Exception):
    """A refusal that a user can act on; the command ends with exit code 1 and nothing is changed."""


class InputError(GeobillError):
    """A file, an option or a value from outside can't be used as it is."""


class ReviewError(InputError):
    """A look at findings, or an act on them, that can't be: ``code`` tells which refusal it is, ``about`` what it names.

    The command line shows the message; the review page says the same in the words of whoever reads it.
    """

    def __init__(self, message: str, code: str, about: str = ""):
        super().__init__(message)
        self.code, self.about = code, about


class LawError(GeobillError):
    """A statute is asked for something that it doesn't give: a date before it existed, a width of zero."""


class PolicyError(GeobillError):
    """A policy key or value that doesn't exist or isn't built yet."""


class StoreError(GeobillError):
    """The workspace can't be opened, read or written."""


class BusyError(StoreError):
    """Another program is writing into the store, and went on for longer than a command waits."""


class ConflictError(GeobillError):
    """Somebody else changed in between what a person decides on: nothing of theirs is written over.

    ``subject`` is what was decided on, ``what`` was done to it, ``by`` whom and ``at`` which moment (UTC, ISO text with Z).
    """

    def __init__(self, message: str, subject: str, what: str, by: str, at: str):
        super().__init__(message)
        self.subject, self.what, self.by, self.at = subject, what, by, at


class BooksDontCloseError(GeobillError):
    """A conservation sum is off: the run stops and says where (design, promise 1)."""


class TemplateError(GeobillError):
    """A document can't be rendered from its template and its figures."""
