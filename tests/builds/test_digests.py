import base64
import hashlib
import json
from pathlib import Path

import pytest

from dbversus.builds.digests import check_as_first_fetched, check_digest, is_digest
from dbversus.errors import RunError

SHA256 = hashlib.sha256(b"abc").hexdigest()
SHA512 = f"sha512-{base64.b64encode(hashlib.sha512(b'abc').digest()).decode()}"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "a.zip"
    file.write_bytes(b"abc")
    return file


@pytest.mark.parametrize("digest", [SHA256, SHA256.upper(), SHA512])
def test_the_file_expected(file: Path, digest: str) -> None:
    assert is_digest(digest)
    check_digest(file, digest)
    file.write_bytes(b"abd")
    with pytest.raises(RunError, match=r"a\.zip has the wrong checksum: expected sha"):
        check_digest(file, digest)


def test_both_digests_are_named(file: Path) -> None:
    with pytest.raises(RunError, match=r"expected sha256 bbb.*got ba7816bf.*; refused"):
        check_digest(file, "b" * 64)
    wrong = f"sha512-{'A' * 86}=="
    with pytest.raises(RunError, match=r"expected sha512 sha512-AAA.*got sha512-3a81"):
        check_digest(file, wrong)


@pytest.mark.parametrize(
    "text", ["", "abc", SHA256[1:], f"{SHA256}0", SHA512[:-1], "sha512-", "sha1-qZk+NkcGgWq6PiVxeFDCbJzQ2J0="]
)
def test_what_is_no_digest(text: str) -> None:
    assert not is_digest(text)


def test_first_fetches_are_remembered(home: Path) -> None:
    check_as_first_fetched("maven:a:b:1", "1" * 64)
    check_as_first_fetched("maven:a:b:2", "2" * 64)
    check_as_first_fetched("maven:a:b:1", "1" * 64)
    with pytest.raises(RunError, match=f"maven:a:b:1 is not what .* sha256 {'1' * 64} then, {'3' * 64} now; refused"):
        check_as_first_fetched("maven:a:b:1", "3" * 64)
    assert json.loads((home / "cache/digests.json").read_text()) == {"maven:a:b:1": "1" * 64, "maven:a:b:2": "2" * 64}


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff", b"null"])
def test_a_damaged_memory_is_named(home: Path, content: bytes) -> None:
    check_as_first_fetched("maven:a:b:1", "1" * 64)
    memory = home / "cache/digests.json"
    memory.write_bytes(content)
    with pytest.raises(RunError, match=str(memory)):
        check_as_first_fetched("maven:a:b:1", "1" * 64)
    assert memory.read_bytes() == content
