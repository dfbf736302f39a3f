// The list of documents.
import { get } from "./api.js";
import { button, fill, h, isolated } from "./dom.js";
import { uploader } from "./upload.js";
import { count, percent } from "./words.js";

const STATUS = {
  "": "all",
  new: "new",
  begun: "begun",
  done: "done",
  skipped: "skipped",
  flagged: "flagged",
  commented: "with comments",
  shared: "shared",
  "held-out": "held out",
};

export class DocumentsView {
  title = "Documents";

  enter() {
    this.page = 1;
    this.search = h("input", { type: "search", placeholder: "Search names and texts", "aria-label": "Search", dir: "auto", oninput: () => this.#later() });
    this.status = h(
      "select",
      { "aria-label": "Status", onchange: () => this.#first() },
      Object.entries(STATUS).map(([value, label]) => h("option", { value }, label)),
    );
    this.list = h("div", { class: "list" });
    this.element = h(
      "section",
      { class: "narrow" },
      h("h2", { class: "view" }, "Documents"),
      h("details", { class: "card adding" }, h("summary", {}, "Add documents"), uploader(() => this.#first())),
      h("p", { class: "row" }, this.search, this.status),
      this.list,
    );
    this.#load();
  }

  leave() {
    clearTimeout(this.timer);
  }

  commands() {
    return [
      { keys: ["n"], label: "next page", run: () => this.#turn(1) },
      { keys: ["p"], label: "previous page", run: () => this.#turn(-1) },
    ];
  }

  #later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#first(), 200);
  }

  #first() {
    this.page = 1;
    this.#load();
  }

  #turn(step) {
    const to = this.page + step;
    if (to < 1 || to > this.pages) return;
    this.page = to;
    this.#load();
  }

  async #load() {
    const query = new URLSearchParams({ search: this.search.value, status: this.status.value, page: this.page });
    const asked = (this.asked = query.toString());
    try {
      const answer = await get(`/api/documents?${query}`);
      // Answers may overtake each other.
      if (asked !== this.asked) return;
      this.pages = answer.pages;
      this.#draw(answer);
    } catch (error) {
      fill(this.list, h("p", { role: "alert" }, `The list cannot be shown: ${error.message}.`));
    }
  }

  #draw({ documents, total, page, pages }) {
    if (!documents.length) return fill(this.list, h("p", { class: "soft" }, "No document is like this."));
    fill(
      this.list,
      h("p", { class: "soft", role: "status" }, count(total, "document")),
      h("ul", { class: "documents" }, documents.map(line)),
      pages > 1 &&
        h(
          "p",
          { class: "row pages" },
          button("Previous", () => this.#turn(-1), { key: "p" }),
          h("span", { class: "soft" }, `page ${page} of ${pages}`),
          button("Next", () => this.#turn(1), { key: "n" }),
        ),
    );
  }
}

function line({ id, name, tokens, labelled, status, flagged, comments, held_out, shared, doubt }) {
  const share = tokens ? labelled / tokens : 0;
  const meter = h("span", { class: "meter", title: `${labelled} of ${tokens} tokens labelled` });
  meter.style.setProperty("--share", share.toFixed(3));
  return h(
    "li",
    {},
    h("a", { href: `#read/${id}`, class: "name" }, isolated(name)),
    h(
      "span",
      { class: "facts" },
      flagged && h("span", { class: "chip warn" }, "flagged"),
      comments > 0 && h("span", { class: "chip" }, count(comments, "comment")),
      doubt > 0 && h("a", { class: "chip warn", href: "#doubts" }, count(doubt, "doubt")),
      held_out && h("span", { class: "chip held" }, "held out"),
      shared && h("span", { class: "chip" }, "shared"),
      h("span", { class: `chip is-${status}` }, status),
    ),
    meter,
    h("span", { class: "soft number" }, `${percent(share)} of ${count(tokens, "token")}`),
    h("a", { href: `#ask/${id}`, class: "soft ask", "aria-label": `Questions about ${name}` }, "ask"),
  );
}
