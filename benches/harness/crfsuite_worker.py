"""Calls python-crfsuite and prints figures as JSON. It runs in the virtual environment of the benchmarks.

    crfsuite_worker.py versions
    crfsuite_worker.py train DATA MODEL [key=value ...]
    crfsuite_worker.py tag DATA MODEL REPEATS
    crfsuite_worker.py label DATA MODEL OUTPUT
    crfsuite_worker.py dump MODEL FRAME OUTPUT
    crfsuite_worker.py judge DATA MODEL PATHS OUTPUT
"""

import json
import platform
import re
import sys
import time
from importlib import metadata

import pycrfsuite

ESCAPED = re.compile(r"\\(.)")


def sequences(path):
    """Attributes and labels of each sequence of an attribute file."""
    items, labels = [], []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            label, *attributes = line.rstrip("\n").split("\t")
            if label:
                labels.append(label)
                items.append([ESCAPED.sub(r"\1", attribute) for attribute in attributes])
            elif items:
                yield items, labels
                items, labels = [], []


def memory(field):
    """Bytes of memory that /proc knows under this name."""
    with open("/proc/self/status", encoding="ascii") as lines:
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith(field + ":"))


def versions():
    return {
        "package": metadata.version("python-crfsuite"),
        "crfsuite": pycrfsuite.CRFSUITE_VERSION,
        "python": platform.python_version(),
    }


class TimedTrainer(pycrfsuite.Trainer):
    """Notes when iterations end: the times in CRFsuite's log are processor time, these are those of the clock."""

    def message(self, message):
        if message.startswith("Seconds required for this iteration"):
            self.ends.append(time.perf_counter())
        super().message(message)


def train(data, model, *pairs):
    """The parsing of the file is not timed; sequences are not kept, so memory is the trainer's alone."""
    trainer = TimedTrainer(algorithm="lbfgs", verbose=False)
    trainer.ends = []
    before, converting, appending = memory("VmRSS"), 0.0, 0.0
    for items, labels in sequences(data):
        started = time.perf_counter()
        ready = pycrfsuite.ItemSequence(items)
        converted = time.perf_counter()
        trainer.append(ready, labels)
        appending += time.perf_counter() - converted
        converting += converted - started
    trainer.set_params({"c1": 0.0, "c2": 1.0, **dict(pair.split("=") for pair in pairs)})
    trainer.train(model)
    log = trainer.logparser
    return {
        "convert_seconds": converting,
        "append_seconds": appending,
        "generation_seconds": log.featgen_seconds,
        "features": log.featgen_num_features,
        "iterations": [{"loss": i["loss"], "seconds": i["time"]} for i in log.iterations],
        "wall_seconds": [end - start for start, end in zip(trainer.ends, trainer.ends[1:])],
        "rss_before_bytes": before,
        "peak_rss_bytes": memory("VmHWM"),
    }


def opened(model):
    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    return tagger


def tag(data, model, repeats):
    """Seconds for tagging from ready-made ItemSequence objects, and from lists of strings."""
    tagger = opened(model)
    lists = [items for items, _ in sequences(data)]
    ready = [pycrfsuite.ItemSequence(items) for items in lists]
    started = time.perf_counter()
    for _ in range(int(repeats)):
        for items in ready:
            tagger.tag(items)
    between = time.perf_counter()
    for _ in range(int(repeats)):
        for items in lists:
            tagger.tag(pycrfsuite.ItemSequence(items))
    ended = time.perf_counter()
    tokens = int(repeats) * sum(map(len, lists))
    return {"tokens": tokens, "ready_seconds": between - started, "lists_seconds": ended - between}


def label(data, model, output):
    tagger = opened(model)
    with open(output, "w", encoding="utf-8") as file:
        for items, _ in sequences(data):
            file.write("\n".join(tagger.tag(items)) + "\n\n")
    return {}


def dump(model, frame, output):
    from crfsuite_model import write_dump

    return write_dump(model, opened(model).info(), frame, output)


def judge(data, model, paths, output):
    """For each sequence: the best path, all marginals, and the probability of each path in `paths` and of the gold."""
    tagger = opened(model)
    names = tagger.labels()
    known = set(names)
    with open(paths, encoding="utf-8") as lines, open(output, "w", encoding="utf-8") as file:
        for (items, gold), line in zip(sequences(data), lines, strict=True):
            best = tagger.tag(items)
            answer = {
                "labels": best,
                "gold": gold,
                "marginals": [{name: tagger.marginal(name, t) for name in names} for t in range(len(items))],
                "probabilities": [tagger.probability(path) for path in json.loads(line)],
                "gold_probability": tagger.probability(gold) if known.issuperset(gold) else None,
            }
            file.write(json.dumps(answer) + "\n")
    return {}


if __name__ == "__main__":
    commands = {f.__name__: f for f in (versions, train, tag, label, dump, judge)}
    print(json.dumps(commands[sys.argv[1]](*sys.argv[2:])))
