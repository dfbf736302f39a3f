"""The features of the recipe `gene` as a Python function, for python-crfsuite: raw text in, spans out.

Run by `benches/text` with the Python that has python-crfsuite:

    gene_features.py train COLUMNS MODEL ITERATIONS
    gene_features.py tag TEXT MODEL            prints tokens and seconds as JSON
"""

import gzip
import json
import re
import sys
import time

import pycrfsuite

TOKEN = re.compile(r"[^\W_]+|[^\w\s]|_")
# The patterns of Klinger (2011), Table 2.3, as one compiled expression each.
PATTERNS = [(name, re.compile(expression)) for name, expression in [
    ("INITCAP", r"[A-Z].*"), ("INITCAPALPHA", r"[A-Z][a-z].*"), ("ALLCAPS", r"[A-Z]+"),
    ("CAPITALIZED", r"[A-Z][a-z]+"), ("MIXEDCAPS", r"[A-Z][a-z]+[A-Z][A-Za-z]*"), ("HASDIGIT", r".*[0-9].*"),
    ("SINGLEDIGIT", r"[0-9]"), ("DOUBLEDIGIT", r"[0-9][0-9]"), ("NATURALNUMBER", r"[0-9]+"),
    ("REALNUMBER", r"[-0-9]+[.,][0-9]+"), ("HASDASH", r".*-.*"), ("INITDASH", r"-.*"), ("ENDDASH", r".*-"),
    ("ALPHANUMERIC", r"[A-Za-z0-9]+"), ("PUNCTUATION", r"[.,;:?!-+]"), ("MULTIDOTS", r"\.\.+"),
    ("ENDDOT", r"[^.]+.*\."), ("HASDOT", r".+\..+"), ("ACRONYM", r"[A-Z][A-Z.]*\.[A-Z.]*"), ("INITIAL", r"[A-Z]\."),
    ("SINGLECHARACTER", r"[A-Za-z]"), ("SINGLECAPITAL", r"[A-Z]"), ("QUOTE", "[\"'`´‘’‚‛“”„‟«»‹›]"),
    ("SLASH", r"[\\/]"), ("BRACKET", r"[(\[\])]"),
]]


def shape(word):
    return "".join("A" if c.isupper() else "a" if c.isalpha() else "0" if c.isnumeric() else c for c in word)


def facts(word):
    """What is said about a token wherever it stands near."""
    found = ["W=" + word]
    for length in (2, 3, 4):
        if len(word) > length:
            found.append(f"PREFIX{length}={word[:length]}")
            found.append(f"SUFFIX{length}={word[-length:]}")
    found.append("WC=" + shape(word))
    found += [name for name, pattern in PATTERNS if pattern.fullmatch(word)]
    return found


def brief(word):
    return re.sub(r"(.)\1+", r"\1", shape(word))


def describe(words):
    lower = [word.lower() for word in words]
    briefs = [brief(word) for word in words]
    local = [facts(word) for word in words]
    rows = []
    for t in range(len(words)):
        row = ["BIAS"]
        for offset in (-1, 0, 1):
            if 0 <= t + offset < len(words):
                row += local[t] if offset == 0 else [f"{fact}@{offset}" for fact in local[t + offset]]
        for offset in (-2, -1, 0, 1, 2):
            if 0 <= t + offset < len(words):
                row.append(f"L={lower[t + offset]}@{offset}")
                row.append(f"BWC={briefs[t + offset]}@{offset}")
        whole = f"^{lower[t]}$"
        for length in (2, 3, 4):
            row += [f"GRAM{length}={whole[i:i + length]}" for i in range(len(whole) - length + 1)]
        if t > 0:
            row += [f"L-1,0={lower[t - 1]} {lower[t]}", f"B-1,0={briefs[t - 1]} {briefs[t]}"]
        if t + 1 < len(words):
            row += [f"L0,1={lower[t]} {lower[t + 1]}", f"B0,1={briefs[t]} {briefs[t + 1]}"]
        if 0 < t < len(words) - 1:
            row.append(f"B-1,0,1={briefs[t - 1]} {briefs[t]} {briefs[t + 1]}")
        rows.append(row)
    return rows


def spans(labels):
    found, start = [], None
    for t, label in enumerate(labels + ["O"]):
        if start is not None and label[0] in "BSO":
            found.append((start, t))
            start = None
        if label[0] in "BS":
            start = t
    return found


def train(columns, model, iterations):
    trainer = pycrfsuite.Trainer(verbose=False, params={"c2": 1.0, "max_iterations": int(iterations)})
    words, labels = [], []
    with gzip.open(columns, "rt", encoding="utf-8") as lines:
        for line in [*lines, ""]:
            cells = line.split()
            if cells:
                words.append(cells[0])
                labels.append(cells[1])
            elif words:
                trainer.append(describe(words), labels)
                words, labels = [], []
    trainer.train(model)


def tag(text, model):
    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    with open(text, encoding="utf-8") as file:
        lines = file.read().splitlines()
    started = time.perf_counter()
    tokens = marked = 0
    for line in lines:
        matches = list(TOKEN.finditer(line))
        if matches:
            words = [match.group() for match in matches]
            found = spans(tagger.tag(describe(words)))
            marked += len([(matches[start].start(), matches[end - 1].end()) for start, end in found])
            tokens += len(words)
    print(json.dumps({"tokens": tokens, "spans": marked, "seconds": time.perf_counter() - started}))


if __name__ == "__main__":
    {"train": train, "tag": tag}[sys.argv[1]](*sys.argv[2:])
