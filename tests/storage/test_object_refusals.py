"""Errors for a wrong URL, bucket or environment."""

import uuid
from collections.abc import Callable
from pathlib import Path

import pytest
from s3 import Bucket, Proxy

from antipodes.puzzles.config import load_config
from antipodes.storage.bucket import allows_http, check_environment
from antipodes.tables.run import run_puzzle
from antipodes.tables.table import open_table
from antipodes_tasks.base.errors import NotAStoreError


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("s3://user:secret@bucket/t.zarr", "credentials come from the environment"),
        ("s3://bucket/t.zarr?token=secret", "credentials come from the environment"),
        ("ftp://bucket/t.zarr", "begins with s3://, gs://, az://"),
        ("s3://bucket", "such as s3://bucket/name.zarr"),
        ("s3:///t.zarr", "such as s3://bucket/name.zarr"),
        ("s3://bucket/a//t.zarr", "such as s3://bucket/name.zarr"),
        ("s3://bucket/../t.zarr", "such as s3://bucket/name.zarr"),
    ],
)
def test_urls_that_no_store_can_have(url: str, said: str, refused: Callable[..., str]) -> None:
    for command in (("status", url), ("run", "eight-puzzle", "--store", url), ("tile", "6x10", "--store", url)):
        message = refused(*command)
        assert said in message
        assert "secret" not in message


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[
            ("AWS_ENDPOINT_URL", value)
            for value in ("127.0.0.1:9000", "", "http://h:99999", "http://h:1/a b", "http://")
        ],
        *[("AWS_ENDPOINT_URL", value) for value in ("http://[::1", "http://h:1\n", "http://ü.example", "ftp://h")],
        ("AWS_ENDPOINT_URL_S3", "junk"),
        ("AWS_ENDPOINT", "http://user:secret@h:1"),
        ("AWS_REGION", "a\nsecret"),
        ("AWS_SESSION_TOKEN", "a\nsecret"),
    ],
)
def test_environment_variables_at_which_obstore_would_panic(
    name: str, value: str, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    message = refused("status", f"s3://bucket-{uuid.uuid4().hex}/t.zarr")  # a client is opened once a bucket
    assert message.startswith(f"antipodes: {name}: ")
    assert "secret" not in message


@pytest.mark.parametrize("value", ["http://[::1]:9000", "https://host.example/path", "HTTP://127.0.0.1:9000/"])
def test_urls_of_servers(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", value)
    check_environment("s3")
    assert allows_http("s3") == value.lower().startswith("http:")


def test_a_panic_is_an_error(bucket: Bucket, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The panic of pyo3 is no Exception; the request is not retried."""

    def panicking(*_: object) -> None:
        raise type("PanicException", (BaseException,), {})("called unwrap on a value\nof its own")

    monkeypatch.setattr("obstore.store.S3Store.get", panicking)
    said = f"cannot read {bucket.url()}/commit.json: the storage client panicked: called unwrap on a value"
    assert said in refused("status", bucket.url(), status=1)


def test_an_empty_url(bucket: Bucket, refused: Callable[..., str]) -> None:
    for command in ("status", "query", "verify", "resume", "layers", "show"):
        arguments = ("1",) if command == "query" else ()
        assert f"there is no store at {bucket.url()}" in refused(command, bucket.url(), *arguments)


def test_no_such_bucket(bucket: Bucket, proxy: Proxy, refused: Callable[..., str]) -> None:
    """The error comes immediately, since a retry would not help."""
    assert "404 Not Found (NoSuchBucket)" in refused("run", "eight-puzzle", "--store", "s3://nowhere/t.zarr", status=1)
    assert len(set(proxy.requests)) == len(proxy.requests)


def test_without_obstore(bucket: Bucket, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "obstore.store", None)
    url = f"s3://{bucket.name}-of-no-client/t.zarr"
    assert "pip install '.[cloud]'" in refused("status", url)


@pytest.mark.parametrize("text", ["soon", "-1", "inf", "nan"])
def test_retry_seconds_that_are_no_number(
    text: str, bucket: Bucket, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTIPODES_RETRY_SECONDS", text)
    assert "ANTIPODES_RETRY_SECONDS: expected a number of seconds" in refused("status", bucket.url())


@pytest.mark.parametrize("scheme", ["s3", "gs", "az"])
def test_a_url_that_went_through_a_path_is_no_directory(scheme: str) -> None:
    """It would be a directory of that name: ``pathlib`` drops a slash."""
    with pytest.raises(NotAStoreError, match=f"'{scheme}:/bucket/t.zarr' is a URL that was converted"):
        open_table(Path(f"{scheme}://bucket/t.zarr"))
    with pytest.raises(NotAStoreError, match=f"'{scheme}:/bucket/t.zarr' is a URL that was converted"):
        run_puzzle(load_config("eight-puzzle"), Path(f"{scheme}://bucket/t.zarr"))
