"""Whatever is wrong with a place on S3 is said in one sentence, with what to do."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from actors.storage.errors import StorageError, storage_message
from actors.storage.folder import Folder
from longform.errors import LongformError, UsageError

pytest_plugins = ["tests.s3_server"]


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("AWS Error SIGNATURE_DOES_NOT_MATCH during ListObjectsV2 operation", "AWS_SECRET_ACCESS_KEY"),
        ("An error occurred (InvalidAccessKeyId) when calling the PutObject operation", "AWS_ACCESS_KEY_ID"),
        ("Unable to locate credentials", "instance profile"),
        ("Bucket 'gone' not found. To create buckets, enable the allow_bucket_creation option.", "make it"),
        ("Looks like the configured region is 'a' while the bucket is located in 'b'.", "AWS_DEFAULT_REGION"),
        ("AWS Error NETWORK_CONNECTION during HeadObject operation: curlCode: 7", "AWS_ENDPOINT_URL"),
        (
            "AWS Error NETWORK_CONNECTION during GetObject operation: curlCode: 18, Transferred a partial file",
            "broke off",
        ),
        ("An error occurred (AccessDenied) when calling the ListObjectsV2 operation", "s3:ListBucket"),
        ("An error occurred (ExpiredToken) when calling the GetObject operation", "the same command goes on"),
    ],
)
def test_each_fault_has_its_advice(said: str, advice: str) -> None:
    message = storage_message("s3://b/run", "be read", OSError(said))

    assert message.startswith("s3://b/run: cannot be read: ")
    assert advice in message
    assert said in message


def test_refusal_without_a_reason_is_asked_again_for_one() -> None:
    """A `HeadObject` has no body in which a reason could stand."""
    refused = OSError("AWS Error ACCESS_DENIED during HeadObject operation: No response body.")

    message = storage_message("s3://b/run", "be read", refused, lambda: OSError("(SignatureDoesNotMatch)"))

    assert "the secret is not the access key's" in message
    assert "may not do that" in storage_message("s3://b/run", "be read", refused, lambda: None)


def test_unknown_fault_is_not_guessed_at() -> None:
    assert "the reason is not known here" in storage_message("s3://b", "be read", OSError("Tuesday"))


@pytest.mark.parametrize("url", ["s3://key:secret@bucket/run", "s3://bucket/run?region=eu-west-1"])
def test_urls_hold_neither_secrets_nor_options(url: str) -> None:
    with pytest.raises(UsageError, match=r"expected s3://BUCKET/PATH") as error:
        Folder(url)
    assert "secret@" not in str(error.value)


# ---------------------------------------------------------------- real servers

OPERATIONS: dict[str, Callable[[Folder], object]] = {
    "has": lambda folder: folder.has("run.json"),
    "names": lambda folder: folder.names(),
    "read": lambda folder: folder.read("units"),
    "write": lambda folder: folder.write_bytes("run.json", b"{}"),
    "create": lambda folder: folder.create_bytes("run.json", b"{}"),
    "check": lambda folder: folder.check_reachable(),
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(
    ("variable", "found"),
    [("AWS_SECRET_ACCESS_KEY", "the secret is not the access key's"), ("AWS_ACCESS_KEY_ID", "does not know")],
)
def test_wrong_keys_are_one_clear_error_whatever_is_tried(
    operation: str, variable: str, found: str, s3_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = os.environ[variable]
    monkeypatch.setenv(variable, "wrong")

    with pytest.raises(StorageError, match=found) as error:
        OPERATIONS[operation](Folder(s3_url))
    assert s3_url in str(error.value)
    assert right not in str(error.value)
    assert isinstance(error.value, LongformError)
    assert isinstance(error.value, OSError)


@pytest.mark.parametrize("operation", ["check", "write"])
def test_missing_bucket_is_said_and_not_an_empty_folder(operation: str, s3_url: str) -> None:
    with pytest.raises(StorageError, match="there is no such bucket; make it") as error:
        OPERATIONS[operation](Folder("s3://no-such-bucket/run"))
    assert "s3://no-such-bucket/run" in str(error.value)


def test_place_where_nothing_stands_yet_can_be_reached(s3_url: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    Folder(s3_url).check_reachable()
    Folder(str(tmp_path_factory.getbasetemp() / "nothing yet")).check_reachable()


def test_endpoint_where_nobody_answers_is_found_out_soon(
    s3_url: str, unused_tcp_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{unused_tcp_port}")

    with pytest.raises(StorageError, match=f"nobody answers.*127.0.0.1:{unused_tcp_port}"):
        Folder(s3_url).check_reachable()


ELSEWHERE = (
    '<?xml version="1.0" encoding="UTF-8"?><Error><Code>AuthorizationHeaderMalformed</Code><Message>The authorization '
    "header is malformed; the region 'us-east-1' is wrong; expecting 'eu-central-1'</Message>"
    "<Region>eu-central-1</Region></Error>"
)


class _OfAnotherRegion(BaseHTTPRequestHandler):
    """Answers as S3 does of a bucket in another region; the test's server takes any."""

    def _refuse(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b"" if self.command == "HEAD" else ELSEWHERE.encode()
        self.send_response(400)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_HEAD = do_PUT = _refuse  # noqa: N815  the names that the server looks for

    def log_message(self, *said: object) -> None:
        pass


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A bucket of another region."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _OfAnotherRegion) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        yield "s3://bucket/run"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("operation", ["has", "names", "write", "create", "check"])
def test_wrong_region_names_the_setting(operation: str, elsewhere: str) -> None:
    with pytest.raises(StorageError, match="in another region; set AWS_DEFAULT_REGION") as error:
        OPERATIONS[operation](Folder(elsewhere))
    assert "in region us-east-1" in str(error.value)
