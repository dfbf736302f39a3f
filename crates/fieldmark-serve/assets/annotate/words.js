// Numbers and counts as people read them.

// A probability without false certainty: 0.996 is >99%.
export function percent(share) {
  if (!Number.isFinite(share)) return "–";
  const whole = Math.round(share * 100);
  if (share < 1 && whole >= 100) return ">99%";
  if (share > 0 && whole <= 0) return "<1%";
  return `${whole}%`;
}

// A score with one digit after the point.
export function score(share) {
  return Number.isFinite(share) ? (share * 100).toFixed(1) : "–";
}

export function count(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

export function seconds(value) {
  if (!Number.isFinite(value)) return "–";
  if (value < 10) return `${value.toFixed(1)} s`;
  if (value < 90) return `${Math.round(value)} s`;
  return `${Math.round(value / 60)} min`;
}

// A long text in few characters, cut between graphemes.
export function excerpt(text, longest = 40) {
  const flat = text.replace(/\s+/gu, " ").trim();
  if (flat.length <= longest) return flat;
  let end = 0;
  for (const { index, segment } of new Intl.Segmenter().segment(flat)) {
    if (index + segment.length > longest - 1) break;
    end = index + segment.length;
  }
  return `${flat.slice(0, end).trimEnd()}…`;
}
