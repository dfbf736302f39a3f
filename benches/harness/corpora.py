"""Data of the benchmarks: where the corpora are, and the attribute files that are made of them.

Corpora are read from `FIELDMARK_DATA` and are not part of the project. What is made of them is kept in a cache
directory outside the checkout and made again when the corpus or this file is newer.
"""

import gzip
import os
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = ROOT / "benches" / "templates"


class Missing(Exception):
    """A file that the benchmarks need is not there."""


def data_directory():
    return Path(os.environ.get("FIELDMARK_DATA") or ROOT / "data")


def cache_directory():
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    directory = Path(base) / "fieldmark-benches"
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def corpus(name):
    """The path of a corpus file, such as `conll2000/train.txt.gz`."""
    path = data_directory() / name
    if not path.is_file():
        raise Missing(
            f"{path}: this file is missing. Set FIELDMARK_DATA to the directory that holds {name} "
            "(benches/README.md says which files are needed)"
        )
    return path


def sentences(path, limit=None):
    """The sentences of a gzipped column file, each a list of rows."""
    rows, count = [], 0
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            cells = line.split()
            if cells:
                rows.append(cells)
            elif rows:
                yield rows
                rows, count = [], count + 1
                if count == limit:
                    return
    if rows:
        yield rows


# CRFsuite's chunking attributes: the offsets that are joined, for words and for parts of speech.
SINGLE = [(-2,), (-1,), (0,), (1,), (2,)]
WORDS = SINGLE + [(-1, 0), (0, 1)]
TAGS = SINGLE + [(-2, -1), (-1, 0), (0, 1), (1, 2), (-2, -1, 0), (-1, 0, 1), (0, 1, 2)]
WINDOWS = [("w", 0, offsets) for offsets in WORDS] + [("pos", 1, offsets) for offsets in TAGS]


def chunking_attributes(rows, t):
    """Attributes of position `t` as in CRFsuite's chunking tutorial; none for what lies outside the sentence."""
    found = []
    for name, column, offsets in WINDOWS:
        if t + offsets[0] >= 0 and t + offsets[-1] < len(rows):
            names = "|".join(f"{name}[{offset}]" for offset in offsets)
            found.append(names + "=" + "|".join(rows[t + offset][column] for offset in offsets))
    if t == 0:
        found.append("__BOS__")
    if t + 1 == len(rows):
        found.append("__EOS__")
    return found


MACRO = re.compile(r"%x\[(-?\d+),(\d+)\]")


def template_attributes(template):
    """A function that makes attributes by the `U` lines of a CRF++ template, as CRF++ does."""
    lines = [line for line in template.read_text(encoding="utf-8").splitlines() if line.startswith("U")]

    def cell(rows, t, column):
        if t < 0:
            return f"_B{t}"
        return f"_B+{t - len(rows) + 1}" if t >= len(rows) else rows[t][column]

    def attributes(rows, t):
        return [MACRO.sub(lambda m: cell(rows, t + int(m[1]), int(m[2])), line) for line in lines]

    return attributes


def escape(attribute):
    return attribute.replace("\\", "\\\\").replace(":", "\\:")


def made(name, source, make):
    """The file `name` in the cache, written by `make(file)` unless it is newer than what it is made of."""
    path = cache_directory() / name
    newest = max(source.stat().st_mtime, Path(__file__).stat().st_mtime)
    if not path.is_file() or path.stat().st_mtime <= newest:
        partial = path.with_name(path.name + ".partial")
        with partial.open("w", encoding="utf-8") as file:
            make(file)
        partial.replace(path)
    return path


def attribute_file(name, side, attributes, limit=None, copies=1):
    """An attribute file of CoNLL-2000: `side` is train or test."""
    source = corpus(f"conll2000/{side}.txt.gz")

    def make(file):
        for _ in range(copies):
            for rows in sentences(source, limit):
                for t, row in enumerate(rows):
                    file.write("\t".join([row[-1], *map(escape, attributes(rows, t))]) + "\n")
                file.write("\n")

    extent = f"-first{limit}" if limit else ""
    extent += f"-{copies}times" if copies > 1 else ""
    return made(f"{name}-{side}{extent}.crfsuite", source, make)


def column_file(name, corpus_name, limit=None):
    """A plain column file of the first sentences of a corpus, or of all."""
    source = corpus(corpus_name)

    def make(file):
        for rows in sentences(source, limit):
            file.write("".join(" ".join(row) + "\n" for row in rows) + "\n")

    extent = f"-first{limit}" if limit else ""
    return made(f"{name}{extent}.txt", source, make)


def gold_labels(attribute_path):
    """The labels of an attribute file, one list per sequence."""
    labels = []
    with attribute_path.open(encoding="utf-8") as lines:
        for line in lines:
            if line == "\n":
                yield labels
                labels = []
            else:
                labels.append(line.split("\t", 1)[0])
