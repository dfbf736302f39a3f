"""The runs that the rows are made of. Each is done when a row first asks for it, and then kept.

Both programs take turns within every repetition, so that a disturbance of the machine meets both of them.
"""

from dataclasses import dataclass
from functools import cached_property
from statistics import median

from . import corpora
from .programs import labels_of, progress


@dataclass(frozen=True)
class Effort:
    """How much work is done."""

    repeats: int
    iterations: int
    dense_iterations: int
    order_iterations: int
    convergence_iterations: int
    crfs_iterations: int
    """Iterations of the crate crfs, each of which takes many seconds."""
    copies: int
    """Copies of the test side that are tagged."""
    sentences: int | None
    """Only this many sentences of each file are used, if not all."""


FULL = Effort(
    repeats=3,
    iterations=50,
    dense_iterations=15,
    order_iterations=20,
    convergence_iterations=1000,
    crfs_iterations=5,
    copies=20,
    sentences=None,
)
QUICK = Effort(
    repeats=1,
    iterations=5,
    dense_iterations=3,
    order_iterations=3,
    convergence_iterations=12,
    crfs_iterations=3,
    copies=2,
    sentences=500,
)

# Tight enough for losses to agree to more digits than are asked for.
STOPPING = {"epsilon": "1e-6", "period": "10", "delta": "1e-10"}


@dataclass(frozen=True)
class Times:
    """Seconds per iteration over the repetitions of a run: the best median, and the best of all."""

    median: float
    best: float

    @classmethod
    def of(cls, runs):
        """The first iteration is left out: it has one evaluation more than the others."""
        seconds = [[i["seconds"] for i in run["iterations"][1:]] for run in runs]
        return cls(min(map(median, seconds)), min(map(min, seconds)))


class Runs:
    """All runs, for one fieldmark, one CRFsuite and one amount of work. crfs is made when it is needed."""

    def __init__(self, fieldmark, crfsuite, make_crfs, effort):
        self.fieldmark = fieldmark
        self.crfsuite = crfsuite
        self.make_crfs = make_crfs
        self.effort = effort
        self.cache = corpora.cache_directory()

    def chunking(self, side, copies=1, limit=None):
        """CRFsuite's chunking attributes as a file."""
        limit = limit or self.effort.sentences
        return corpora.attribute_file("chunking", side, corpora.chunking_attributes, limit, copies)

    def repeat(self, what):
        for number in range(1, self.effort.repeats + 1):
            progress(f"{what}, {number} of {self.effort.repeats}")
            yield

    @cached_property
    def sparse(self):
        """Supported features: fieldmark with one and with two threads, and CRFsuite."""
        data, count = self.chunking("train"), self.effort.iterations
        model, peer = self.cache / "sparse.fmk", self.cache / "sparse.crfsuite-model"
        runs = {"one": [], "two": [], "peer": []}
        common = ["--c2", 1, "--max-iterations", count, "--epsilon", 0, "--delta", 0]
        for _ in self.repeat(f"chunking attributes, {count} iterations"):
            runs["one"].append(self.fieldmark.train(data, model, "--threads", 1, *common))
            train = self.crfsuite.train(data, peer, max_iterations=count, epsilon=0, delta=0)
            runs["peer"].append(train)
            runs["two"].append(self.fieldmark.train(data, self.cache / "two.fmk", "--threads", 2, *common))
        return {**runs, "model": model, "peer_model": peer}

    @cached_property
    def dense(self):
        """All states and transitions: fieldmark from columns with the template, CRFsuite from the same attributes."""
        template = corpora.TEMPLATES / "chunking.txt"
        attributes = corpora.template_attributes(template)
        limit, count = self.effort.sentences, self.effort.dense_iterations
        columns = corpora.column_file("conll2000-train", "conll2000/train.txt.gz", limit)
        data = corpora.attribute_file("template", "train", attributes, limit)
        model, peer = self.cache / "dense.fmk", self.cache / "dense.crfsuite-model"
        all_features = {"feature__possible_states": 1, "feature__possible_transitions": 1}
        runs = {"one": [], "peer": []}
        for _ in self.repeat(f"dense features, {count} iterations"):
            options = ["--c2", 1, "--max-iterations", count, "--epsilon", 0, "--delta", 0, "--threads", 1]
            options += ["--template", template, "--all-possible-states", "--all-possible-transitions"]
            runs["one"].append(self.fieldmark.train(columns, model, *options))
            train = self.crfsuite.train(data, peer, max_iterations=count, epsilon=0, delta=0, **all_features)
            runs["peer"].append(train)
        return runs

    def tag_once(self, tokens):
        """Tokens per second of a run of fieldmark on copies of the test side, and the seconds that are not counted."""
        model, one = self.sparse["model"], ("--threads", 1)
        single = self.chunking("test", limit=1)
        start = min(self.fieldmark.tag_seconds(single, model, *one) for _ in range(3))
        whole = self.fieldmark.tag_seconds(self.chunking("test", copies=self.effort.copies), model, *one)
        return tokens / (whole - start), start

    @cached_property
    def tagging(self):
        """Tokens per second of both, with the models of the sparse run."""
        peer_model, test = self.sparse["peer_model"], self.chunking("test")
        best = {"fieldmark": 0.0, "ready": 0.0, "lists": 0.0, "load_seconds": float("inf")}
        for _ in self.repeat(f"tagging {self.effort.copies} copies of the test side"):
            peer = self.crfsuite.call("tag", test, peer_model, self.effort.copies)
            rate, start = self.tag_once(peer["tokens"])
            best["load_seconds"] = min(best["load_seconds"], start)
            best["fieldmark"] = max(best["fieldmark"], rate)
            for way in ("ready", "lists"):
                best[way] = max(best[way], peer["tokens"] / peer[f"{way}_seconds"])
        return best

    @cached_property
    def crfs(self):
        """The crate crfs and fieldmark in turns: training, and tagging with the models of the sparse run."""
        crfs, data, count = self.make_crfs(), self.chunking("train"), self.effort.crfs_iterations
        options = ["--c2", 1, "--max-iterations", count, "--epsilon", 0, "--delta", 0, "--threads", 1]
        runs = {"one": [], "crfs": [], "fieldmark": 0.0, "file": 0.0, "ready": 0.0}
        test, peer_model = self.chunking("test"), self.sparse["peer_model"]
        for _ in self.repeat(f"the crate crfs, {count} iterations and tagging"):
            runs["one"].append(self.fieldmark.train(data, self.cache / "crfs.fmk", *options))
            runs["crfs"].append(crfs.train(data, self.cache / "crfs.crfsuite-model", count))
            peer = crfs.tag(test, peer_model, self.effort.copies)
            runs["fieldmark"] = max(runs["fieldmark"], self.tag_once(peer["tokens"])[0])
            for way in ("file", "ready"):
                runs[way] = max(runs[way], peer["tokens"] / peer[way])
        return runs

    @cached_property
    def converged(self):
        """Both trained until nothing improves: losses and F1 on the test side."""
        data, test, count = self.chunking("train"), self.chunking("test"), self.effort.convergence_iterations
        model, peer = self.cache / "converged.fmk", self.cache / "converged.crfsuite-model"
        progress("training to convergence, fieldmark")
        stopping = [part for key, value in STOPPING.items() for part in (f"--{key}", value)]
        ours = self.fieldmark.train(data, model, "--c2", 1, "--max-iterations", count, *stopping)
        progress("training to convergence, CRFsuite")
        theirs = self.crfsuite.train(data, peer, max_iterations=count, **STOPPING)
        predicted, scratch = self.cache / "converged.labels", self.cache / "converged.tagged"
        self.crfsuite.call("label", test, peer, predicted)
        gold = list(corpora.gold_labels(test))
        return {
            "fieldmark": ours["iterations"],
            "peer": theirs["iterations"],
            "fieldmark_f1": self.fieldmark.chunk_f1(gold, labels_of(self.fieldmark.tag(test, model)), scratch),
            "peer_f1": self.fieldmark.chunk_f1(gold, labels_of(predicted.read_text(encoding="utf-8")), scratch),
        }

    @cached_property
    def orders(self):
        """Orders 1 to 3 on CoNLL-2003, a list of reports for each."""
        data = corpora.column_file("conll2003-train", "conll2003/eng.train.gz", self.effort.sentences)
        count = self.effort.order_iterations
        runs = {1: [], 2: [], 3: []}
        for _ in self.repeat(f"orders 1 to 3, {count} iterations"):
            for order, reports in runs.items():
                options = ["--c2", 1, "--max-iterations", count, "--epsilon", 0, "--delta", 0, "--threads", 1]
                options += ["--order", order, "--template", corpora.TEMPLATES / "names.txt"]
                options += ["--skip-lines=-DOCSTART-"]
                reports.append(self.fieldmark.train(data, self.cache / "order.fmk", *options))
        return runs
