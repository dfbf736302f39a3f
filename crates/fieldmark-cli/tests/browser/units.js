// Cases for the modules that only compute; gives what is wrong.
(async () => {
  const wrong = [];
  const same = (what, got, wanted) => {
    const [a, b] = [got, wanted].map((value) => JSON.stringify(value));
    if (a !== b) wrong.push(`${what}: ${a} instead of ${b}`);
  };
  const { assertionsFor, marksOf, replaced } = await import("/assets/marks.js");
  const { wholeGraphemes } = await import("/assets/textview.js");
  const { excerpt, percent, count } = await import("/assets/words.js");
  const { nameOf, RESERVED } = await import("/assets/keys.js");
  const { keyName } = await import("/assets/dom.js");
  const { ticks } = await import("/assets/plot.js");

  // What people have said comes before what the model says; later words count.
  const exact = (start, end, type) => ({ start, end, type, borders: "exact" });
  const open = (start, end, type) => ({ start, end, type, borders: "open" });
  const guess = (start, end, type, probability = 0.7) => ({ start, end, type, probability });
  const drawn = (known, suggestions = []) => {
    const { spans, outside } = marksOf({ known, suggestions });
    return [spans.map(({ start, end, type, how, open }) => [start, end, type, how, ...(open ? ["open"] : [])]), [...outside]];
  };
  same("nothing", drawn([]), [[], []]);
  same("known and outside", drawn([exact(1, 3, "A"), exact(4, 5, null)]), [[[1, 3, "A", "known"]], [4]]);
  same("neighbours stay two spans", drawn([exact(1, 2, "A"), exact(2, 3, "A")])[0], [[1, 2, "A", "known"], [2, 3, "A", "known"]]);
  same("open neighbours are one", drawn([open(1, 2, "A"), open(2, 3, "A")])[0], [[1, 3, "A", "known", "open"]]);
  same("the last word", drawn([exact(1, 4, "A"), exact(2, 3, "B")])[0], [[1, 2, "A", "known"], [2, 3, "B", "known"], [3, 4, "A", "known"]]);
  same("a suggestion elsewhere", drawn([exact(1, 2, "A")], [guess(3, 4, "B")])[0], [[1, 2, "A", "known"], [3, 4, "B", "suggested"]]);
  same("a suggestion of what is known", drawn([exact(1, 2, "A")], [guess(1, 2, "A")])[0], [[1, 2, "A", "known"]]);
  same("a suggestion against what is known", drawn([exact(1, 2, null)], [guess(1, 3, "A")])[0], []);
  same("a suggestion around an open token", drawn([open(2, 3, "A")], [guess(1, 4, "A")])[0], [[1, 4, "A", "suggested"]]);
  same("a suggestion of another type", drawn([open(2, 3, "A")], [guess(1, 4, "B")])[0], [[2, 3, "A", "known", "open"]]);

  // A span that is cut loses the rest.
  const [old] = marksOf({ known: [exact(2, 6, "A")] }).spans;
  same("wider", assertionsFor({ start: 1, end: 7 }, "A", [old]), [exact(1, 7, "A")]);
  same("narrower", assertionsFor({ start: 3, end: 5 }, "A", [old]), [exact(3, 5, "A"), exact(2, 3, null), exact(5, 6, null)]);
  same("cut once", assertionsFor({ start: 3, end: 6 }, "B", [old], [old]), [exact(3, 6, "B"), exact(2, 3, null)]);
  same("elsewhere", assertionsFor({ start: 6, end: 7 }, "A", [old]), [exact(6, 7, "A")]);
  same("replaced", replaced([guess(1, 3, "A"), guess(5, 6, "B")], { start: 2, end: 4 }, "B").map(({ start }) => start), [2, 5]);
  same("freed", replaced([guess(1, 3, "A")], { start: 1, end: 2 }, null), []);

  // No character falls apart: a family is one, and so are letters with their marks.
  const family = "👩‍👩‍👧";
  same("a border inside of a grapheme", wholeGraphemes(`a${family}b`, [[0, 3], [3, 1 + family.length], [1 + family.length, 2 + family.length]]), [[0, 9], [9, 9], [9, 10]]);
  same("a combining mark", wholeGraphemes("cafe\u0301 x", [[0, 4], [6, 7]]), [[0, 5], [6, 7]]);
  same("plain text", wholeGraphemes("ab c", [[0, 2], [3, 4]]), [[0, 2], [3, 4]]);
  same("an excerpt", excerpt(`${family}${family}`, 10), `${family}…`);
  same("a short excerpt", excerpt(" a \n b "), "a b");

  same("almost sure", percent(0.9999), ">99%");
  same("sure", percent(1), "100%");
  same("hardly", percent(0.001), "<1%");
  same("one", [count(1, "answer"), count(1200, "answer")], ["1 answer", "1,200 answers"]);
  const key = (key, options = {}) => nameOf({ key, code: "", shiftKey: false, ...options });
  same("keys", [key("A", { shiftKey: true }), key("?", { shiftKey: true }), key("1", { shiftKey: true }), key("ы", { code: "KeyS" })], ["shift+a", "?", "1", "s"]);
  same("key caps", [keyName("shift+z"), keyName("Enter"), keyName("?")], ["⇧Z", "↵", "?"]);
  same("no type gets the key of a command", ["s", "u", "0", "o"].every((letter) => RESERVED.includes(letter)), true);
  same("ticks", [ticks(0, 1, 5), ticks(0, 130, 5)], [[0, 0.2, 0.4, 0.6000000000000001, 0.8, 1], [0, 50, 100]]);
  return wrong;
})()
