// How long an answer took: time during which the page could be seen.

export class Stopwatch {
  constructor() {
    this.start();
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.sum = this.#now();
      else this.since = performance.now();
    });
  }

  start() {
    this.sum = 0;
    this.since = performance.now();
  }

  #now() {
    return this.sum + (performance.now() - this.since);
  }

  seconds() {
    return Math.round(document.hidden ? this.sum : this.#now()) / 1000;
  }
}
