"""What is said where a URL, a bucket or the environment is not as it must be."""

import time
from collections.abc import Callable

import pytest
from s3 import Bucket


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
def test_urls_that_cannot_be(url: str, said: str, refused: Callable[..., str]) -> None:
    for command in (("status", url), ("run", "eight-puzzle", "--store", url), ("tile", "6x10", "--store", url)):
        message = refused(*command)
        assert said in message
        assert "secret" not in message


def test_nothing_there(bucket: Bucket, refused: Callable[..., str]) -> None:
    for command in ("status", "query", "verify", "resume", "layers", "show"):
        arguments = ("1",) if command == "query" else ()
        assert f"expected a store at {bucket.url()}, found nothing" in refused(command, bucket.url(), *arguments)


def test_no_such_bucket(bucket: Bucket, refused: Callable[..., str]) -> None:
    """Waiting would not help, so that it is said at once."""
    begin = time.monotonic()
    assert "404 Not Found (NoSuchBucket)" in refused("run", "eight-puzzle", "--store", "s3://nowhere/t.zarr", status=1)
    assert time.monotonic() - begin < 20


def test_without_obstore(bucket: Bucket, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "obstore.store", None)
    url = f"s3://{bucket.name}-of-no-client/t.zarr"
    assert "pip install 'antipodes[cloud]'" in refused("status", url)


@pytest.mark.parametrize("text", ["soon", "-1", "inf", "nan"])
def test_no_patience(text: str, bucket: Bucket, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPODES_STORE_PATIENCE", text)
    assert "ANTIPODES_STORE_PATIENCE: expected a number of seconds" in refused("status", bucket.url())
