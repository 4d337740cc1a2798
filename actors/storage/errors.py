"""
Turn a fault of a disk or of S3 into a message that says what to do.

Of S3 the service's own words are of little use: of a wrong secret a `HeadObject` says no more than ACCESS_DENIED, and a
missing bucket looks like a folder with nothing in it. A request to list one name has an answer with the reason in it.
"""

from __future__ import annotations

import errno
import functools
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from longform.errors import LongformError


class StorageError(LongformError, OSError):
    """
    A place could not be read or written; nobody knows whether a write has happened. `lasts` is True if the next try
    will end alike: a disk is full, or may not be written to.
    """

    def __init__(self, message: str, *, lasts: bool = False) -> None:
        super().__init__(message)
        self.lasts = lasts

    def __reduce__(self) -> tuple[Callable[[str], StorageError], tuple[str]]:
        return functools.partial(StorageError, lasts=self.lasts), (str(self),)


@contextmanager
def without_the_unreachable() -> Iterator[None]:
    """Pass over a place that cannot be reached now; a fault that lasts, such as a damaged file, is raised."""
    try:
        yield
    except StorageError as error:
        if error.lasts:
            raise


def damaged(place: str, expected: str, found: object, advice: str) -> StorageError:
    """Return the error of a file whose content is not what was written."""
    told = f"{place}: expected {expected}, and its content is damaged ({_short(str(found))}); {advice}"
    return StorageError(told, lasts=True)


class OnStorage(Protocol):
    """The protocol of a place that can fail."""

    url: str

    def listing_fault(self) -> Exception | None:
        """Say why the place cannot be listed; return None if it can, or if it is local."""


_CREDENTIALS = "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE, or the machine's instance profile"

_REASONS: tuple[tuple[str, str, str], ...] = (
    (
        "SignatureDoesNotMatch|SIGNATURE_DOES_NOT_MATCH",
        "the secret is not the access key's",
        "set AWS_SECRET_ACCESS_KEY to the secret of AWS_ACCESS_KEY_ID",
    ),
    (
        "InvalidAccessKeyId|INVALID_ACCESS_KEY_ID|InvalidClientTokenId",
        "the service does not know the access key",
        "set AWS_ACCESS_KEY_ID, and AWS_ENDPOINT_URL where the service is not Amazon's",
    ),
    ("ExpiredToken", "the session's token has expired", "get a new one; the same command goes on"),
    ("Unable to locate credentials|NoCredentials", "there are no credentials", f"set {_CREDENTIALS}"),
    ("NoSuchBucket|NO_SUCH_BUCKET|Bucket '[^']*' not found", "there is no such bucket", "make it, or name another"),
    (
        "AuthorizationHeaderMalformed|PermanentRedirect|IllegalLocationConstraint|configured region is|status 301",
        "the bucket is in another region",
        "set AWS_DEFAULT_REGION to the region of the bucket",
    ),
    (
        r"curlCode: (18|55|56)\b|IncompleteRead",
        "the connection broke off in the middle",
        "look at the network; the same command goes on",
    ),
    (
        "NETWORK_CONNECTION|Could not connect|Connection was closed|timed? ?out|resolve host",
        "nobody answers at the endpoint",
        "look at AWS_ENDPOINT_URL and at the network; the same command goes on",
    ),
    (
        "AccessDenied|ACCESS_DENIED|Forbidden|status 403",
        "the credentials may not do that",
        "allow s3:ListBucket, s3:GetObject, s3:PutObject and s3:DeleteObject, or set other credentials",
    ),
)
"""(Pattern of the answer, what is wrong, what to do), the most exact first: a refusal without a reason is last."""

_GOES_ON = "the same command goes on afterwards"

_ON_DISK: dict[int | None, tuple[str, str]] = {
    errno.ENOSPC: ("the disk is full", f"make room there; {_GOES_ON}"),
    errno.EDQUOT: ("this user's quota of the disk is used up", f"make room there; {_GOES_ON}"),
    errno.EFBIG: ("a file would be larger than it may be", f"raise `ulimit -f`, or the disk's limit; {_GOES_ON}"),
    errno.EROFS: ("the disk is read-only", "name a folder on another one"),
    errno.EACCES: ("this user may not do that there", "change the rights, or name another folder"),
    errno.EPERM: ("this user may not do that there", "change the rights, or name another folder"),
    errno.ENOTDIR: ("a file stands where a folder is to be", "name another folder"),
    errno.EEXIST: ("a file stands where a folder is to be", "name another folder"),
    errno.ENAMETOOLONG: ("the name is too long", "name another folder"),
    errno.EMFILE: ("this process has too many files open", f"raise `ulimit -n`; {_GOES_ON}"),
    errno.EIO: ("the disk has a fault", f"look at the system's log; {_GOES_ON}"),
}
"""Errno -> its meaning for a user, and what to do."""

_REFUSED_WITHOUT_REASON = re.compile("No response body|status 403|status 400", re.IGNORECASE)

Given = ParamSpec("Given")
Result = TypeVar("Result")
Place = TypeVar("Place", bound=OnStorage)


Method = Callable[Concatenate[Place, Given], Result]


def explained(doing: str) -> Callable[[Method[Place, Given, Result]], Method[Place, Given, Result]]:
    """
    Make the `OSError`s of a method into `StorageError`s that say what to do; a file not found by a read stays one.

    *doing* follows the word "cannot", such as "be read".
    """

    def wrap(method: Method[Place, Given, Result]) -> Method[Place, Given, Result]:
        @functools.wraps(method)
        def told(place: Place, /, *args: Given.args, **kwargs: Given.kwargs) -> Result:
            try:
                return method(place, *args, **kwargs)
            except StorageError:
                raise
            except OSError as error:
                if isinstance(error, FileNotFoundError) and doing == "be read":
                    raise
                if not place.url.startswith("s3://"):
                    raise StorageError(disk_message(place.url, doing, error), lasts=True) from error
                raise StorageError(storage_message(place.url, doing, error, place.listing_fault)) from error

        return told

    return wrap


def storage_message(
    url: str, doing: str, error: Exception, listing_fault: Callable[[], Exception | None] | None = None
) -> str:
    """
    Describe a fault in words, with the region and the endpoint in use.

    *doing* follows the word "cannot", such as "be read". *listing_fault* asks again in a way that is answered with a
    reason, and returns None if *error* is all there is.
    """
    said = str(error)
    if listing_fault is not None and (_REFUSED_WITHOUT_REASON.search(said) or _known(said) is None):
        said = str(listing_fault() or said)
    reason = _known(said)
    what = "; ".join(reason) if reason else "the reason is not known here"
    stated = os.environ.get
    endpoint = stated("AWS_ENDPOINT_URL_S3") or stated("AWS_ENDPOINT_URL") or "Amazon's endpoint"
    region = stated("AWS_REGION") or stated("AWS_DEFAULT_REGION") or "of the profile, or none"
    return f"{url}: cannot {doing}: {what}. Asked at {endpoint} in region {region}; the answer: {_short(said)}"


def disk_message(place: str, doing: str, error: OSError) -> str:
    """Say what went wrong on a disk of this machine; *doing* follows the word "cannot", such as "be read"."""
    said = os.strerror(error.errno) if error.errno else _short(str(error))
    found, advice = _ON_DISK.get(error.errno, (said, "look at the path and at its disk"))
    return f"{place}: cannot {doing}: {found}; {advice}. The answer: {_short(str(error))}"


def _known(said: str) -> tuple[str, str] | None:
    """Return what is wrong by the words of an answer, and what to do."""
    return next(((wrong, do) for pattern, wrong, do in _REASONS if re.search(pattern, said, re.IGNORECASE)), None)


def _short(said: str) -> str:
    return " ".join(said.split())[:500]


def listing_fault(client: Any, bucket: str, prefix: str) -> Exception | None:
    """Say why one name of *bucket* under *prefix* cannot be listed; return None if it can."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        client.list_objects_v2(Bucket=bucket, Prefix=prefix, MaxKeys=1)
    except (BotoCoreError, ClientError) as error:
        fault: Exception = error
        return fault
    return None
