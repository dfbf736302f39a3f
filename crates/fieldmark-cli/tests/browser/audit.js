// What a person with weak eyes, or with a keyboard alone, would stumble over on the page as it stands.
(() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const rgba = (colour) => {
    if (!known.has(colour)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      known.set(colour, [r, g, b, a / 255]);
    }
    return known.get(colour);
  };
  const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
  const ancestors = (element) => {
    const all = [];
    for (let at = element; at; at = at.parentElement) all.push(at);
    return all;
  };
  const ground = (element) => {
    const layers = [];
    for (const at of ancestors(element)) {
      const colour = rgba(getComputedStyle(at).backgroundColor);
      if (colour[3] > 0) layers.push(colour);
      if (colour[3] === 1) break;
    }
    return layers.reduceRight((below, layer) => over(layer, below), [255, 255, 255, 1]);
  };
  // Relative luminance and contrast by WCAG 2.2.
  const luminance = ([r, g, b]) => {
    const [R, G, B] = [r, g, b].map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * R + 0.7152 * G + 0.0722 * B;
  };
  const contrast = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const problems = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const words = walker.currentNode.data.trim();
    if (!words || element.closest("script, noscript, .unseen, .leap, :disabled, option, title")) continue;
    const box = element.getBoundingClientRect();
    if (!box.width || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const below = ground(element);
    const opacity = ancestors(element).reduce((product, at) => product * getComputedStyle(at).opacity, 1);
    const drawn = element.namespaceURI.endsWith("svg") ? style.fill : style.color;
    const [r, g, b, a] = rgba(drawn);
    const ratio = contrast(over([r, g, b, a * opacity], below), below);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) problems.push(`contrast ${ratio.toFixed(2)} of “${words.slice(0, 40)}” (${drawn} on ${below.map(Math.round)})`);
  }
  for (const element of document.querySelectorAll("button, a[href], input, select, textarea, summary")) {
    if (!element.checkVisibility() || element.closest(".unseen, .leap")) continue;
    const name = element.getAttribute("aria-label") || element.innerText || element.getAttribute("title") || element.getAttribute("placeholder");
    const label = element.closest("label")?.innerText;
    if (!name?.trim() && !label?.trim()) problems.push(`${element.outerHTML.slice(0, 120)} has no name`);
    const box = element.getBoundingClientRect();
    if (element.matches("button") && Math.min(box.width, box.height) < 24) problems.push(`${name} is too small to hit: ${box.width}×${box.height}`);
    if (element.tabIndex < 0) problems.push(`${name} cannot be reached with the keyboard`);
  }
  const wide = document.scrollingElement.scrollWidth;
  if (wide > window.innerWidth) problems.push(`the page is ${wide} wide in a window of ${window.innerWidth}`);
  return problems;
})()
