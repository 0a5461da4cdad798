// Plots of the pages (advisor/charts/plotted.py): the exact figures at the pointer or the keyboard, and a part of the
// axis drawn larger. All data travel in the picture (data-plot); nothing is asked of the server, and no style is set.
"use strict";

(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const AREA = 1000;
  const LEAST_DRAG = 8; // px: less is a click
  const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 2592000, 7776000, 31536000];
  const FIGURE = new Intl.NumberFormat("en", { maximumFractionDigits: 3 });

  const made = (name, attributes = {}, text = "") => {
    const one = document.createElementNS(SVG, name);
    Object.entries(attributes).forEach(([key, value]) => one.setAttribute(key, value));
    if (text) one.textContent = text;
    return one;
  };
  const percent = (share) => `${(100 * share).toFixed(3)}%`;
  const iso = (seconds) => new Date(seconds * 1000).toISOString();
  const moment = (seconds) => {
    const text = iso(seconds).replace("T", " ").slice(0, 19);
    return text.endsWith(":00") ? text.slice(0, 16) : text;
  };
  const figure = (value) => (value !== 0 && Math.abs(value) < 0.01 ? String(Number(value.toPrecision(4))) : FIGURE.format(value));

  // The place in a rising list that lies nearest to a value.
  function nearest(list, value) {
    let low = 0;
    let high = list.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (list[middle] < value) low = middle + 1; else high = middle;
    }
    return low > 0 && value - list[low - 1] <= list[low] - value ? low - 1 : low;
  }

  class Plot {
    constructor(svg) {
      const data = JSON.parse(svg.dataset.plot);
      let before = [];
      data.s.forEach((line) => { line.x = line.x || before; before = line.x; });
      this.svg = svg;
      this.data = data;
      this.whole = data.x;
      this.view = [...data.x];
      this.top = Number(svg.dataset.top);
      this.foot = Number(svg.dataset.foot);
      this.stops = [...new Set(data.s.flatMap((line) => line.x))].sort((a, b) => a - b);
      this.at = null;
      this.area = svg.querySelector(".c-area");
      this.ticks = svg.querySelector(".c-ticks");
      this.drawnTicks = this.ticks ? [...this.ticks.childNodes] : [];
      this.placed = [...svg.querySelectorAll(".c-at")].map((one) => {
        const names = ["x", "cx", "x1", "x2"].filter((name) => one.hasAttribute(name));
        return { one, names, share: parseFloat(one.getAttribute(names[0])) / 100 };
      });
      this.cross = made("g", { class: "c-cross" });
      this.select = made("rect", { class: "c-select", y: this.top, height: this.foot - this.top });
      this.select.setAttribute("hidden", "");
      svg.append(this.select, this.cross);
      this.controls();
      this.listen();
    }

    get group() { return `${this.data.k} ${this.whole}`; }
    get zooms() { return this.whole[1] > this.whole[0] && this.stops.length > 2; }
    name(x) { return this.data.k === "time" ? moment(x) : `${this.data.n} ${figure(x)}`; }
    share(x) { return this.view[1] > this.view[0] ? (x - this.view[0]) / (this.view[1] - this.view[0]) : 0.5; }
    inside(x) { return x >= this.view[0] && x <= this.view[1]; }

    // Below the picture: what is told, and the buttons.
    controls() {
      const row = document.createElement("div");
      row.className = "plot-controls no-print";
      this.told = document.createElement("p");
      this.told.className = "told";
      this.told.id = `told-${Plot.count = (Plot.count || 0) + 1}`;
      this.told.setAttribute("aria-live", "off");
      row.append(this.told);
      this.buttons = (this.zooms ? ["Zoom in", "Zoom out", "Whole"] : []).map((words, n) => {
        const button = document.createElement("button");
        button.type = "button";
        button.className = "small";
        button.textContent = ["+", "−", "Whole"][n];
        button.setAttribute("aria-label", `${words}: ${this.svg.getAttribute("aria-label")}`);
        button.addEventListener("click", () => [() => this.nearer(0.5), () => this.nearer(2), () => this.reset()][n]());
        row.append(button);
        return button;
      });
      this.svg.after(row);
      this.svg.setAttribute("tabindex", "0");
      this.svg.setAttribute("aria-describedby", this.told.id);
      this.able();
    }

    able() {
      if (!this.zooms) return;
      const all = this.view[0] === this.whole[0] && this.view[1] === this.whole[1];
      const [nearer, farther, whole] = this.buttons;
      nearer.disabled = this.stops.filter((x) => this.inside(x)).length < 3;
      farther.disabled = whole.disabled = all;
    }

    listen() {
      let start = null;
      const place = (event) => {
        const box = this.svg.getBoundingClientRect();
        const style = getComputedStyle(this.svg);
        const left = box.left + parseFloat(style.paddingLeft);
        const wide = box.width - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
        return { px: event.clientX, share: Math.max(0, Math.min(1, (event.clientX - left) / Math.max(1, wide))) };
      };
      const value = (share) => this.view[0] + share * (this.view[1] - this.view[0]);
      this.svg.addEventListener("pointermove", (event) => {
        const now = place(event);
        this.showNear(value(now.share), false);
        if (start && Math.abs(now.px - start.px) >= LEAST_DRAG) {
          const [low, high] = [start.share, now.share].sort((a, b) => a - b);
          this.select.setAttribute("x", percent(low));
          this.select.setAttribute("width", percent(high - low));
          this.select.removeAttribute("hidden");
        }
      });
      this.svg.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return;
        this.showNear(value(place(event).share), false);
        if (event.pointerType === "touch") return; // a finger scrolls the page; the buttons zoom
        start = place(event);
        this.svg.setPointerCapture(event.pointerId);
      });
      const end = (event) => {
        const now = place(event);
        if (start && event.type === "pointerup" && Math.abs(now.px - start.px) >= LEAST_DRAG) {
          this.zoom(...[value(start.share), value(now.share)].sort((a, b) => a - b));
        }
        start = null;
        this.select.setAttribute("hidden", "");
      };
      this.svg.addEventListener("pointerup", end);
      this.svg.addEventListener("pointercancel", end);
      this.svg.addEventListener("pointerleave", () => { if (document.activeElement !== this.svg) hide(this); });
      this.svg.addEventListener("blur", () => hide(this));
      this.svg.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        const act = { Home: () => this.step(-Infinity), End: () => this.step(Infinity), "+": () => this.nearer(0.5), "-": () => this.nearer(2), Escape: () => this.reset() }[event.key];
        if (!step && !act) return;
        event.preventDefault();
        if (step) this.step(step); else act();
      });
    }

    // One stop on, by the keyboard: read out.
    step(by) {
      const seen = this.stops.filter((x) => this.inside(x));
      if (!seen.length) return;
      const now = this.at === null ? (by > 0 ? -1 : seen.length) : nearest(seen, this.at);
      show(this, seen[Math.max(0, Math.min(seen.length - 1, now + by))], true);
    }

    showNear(x, aloud) {
      const seen = this.stops.filter((stop) => this.inside(stop));
      if (seen.length) show(this, seen[nearest(seen, x)], aloud);
    }

    // The line at a place, a ring on each figure, and the figures in words.
    put(x, aloud) {
      this.at = x;
      this.cross.replaceChildren();
      const at = percent(this.share(x));
      this.cross.append(made("line", { x1: at, x2: at, y1: this.top, y2: this.foot }));
      const said = [];
      this.data.s.forEach((line) => {
        if (!line.x.length) return;
        const n = nearest(line.x, x);
        const y = line.y[n];
        const unit = this.data.u ? ` ${this.data.u}` : "";
        const other = line.x[n] === x ? "" : ` (${this.name(line.x[n])})`;
        said.push(`${line.n}${line.n ? ": " : ""}${y === null ? "no figure" : figure(y) + unit}${other}`);
      });
      this.told.setAttribute("aria-live", aloud ? "polite" : "off");
      this.told.textContent = `${this.name(x)} – ${said.join("; ")}`;
    }

    take() {
      this.at = null;
      this.cross.replaceChildren();
    }

    nearer(factor) {
      const wide = (this.view[1] - this.view[0]) * factor;
      const middle = this.at !== null && this.inside(this.at) ? this.at : (this.view[0] + this.view[1]) / 2;
      const low = Math.max(this.whole[0], Math.min(middle - wide / 2, this.whole[1] - wide));
      this.zoom(low, low + wide);
    }

    zoom(low, high) {
      const from = Math.max(this.whole[0], low);
      const to = Math.min(this.whole[1], high);
      if (this.stops.filter((x) => x >= from && x <= to).length < 2) return;
      plots.filter((one) => one.group === this.group).forEach((one) => one.draw(from, to));
    }

    reset() { plots.filter((one) => one.group === this.group).forEach((one) => one.draw(...one.whole)); }

    draw(low, high) {
      this.view = [low, high];
      const [first, last] = this.whole;
      const span = last - first || 1;
      const height = Number(this.area.getAttribute("height"));
      this.area.setAttribute("viewBox", `${(AREA * (low - first)) / span} 0 ${(AREA * (high - low)) / span || AREA} ${height}`);
      this.placed.forEach(({ one, names, share }) => {
        const shade = one.querySelector(":scope > .c-shade");
        let now = this.share(first + share * span);
        if (shade) {
          now = Math.max(0, Math.min(1, now));
          shade.setAttribute("width", percent(1 - now));
        }
        names.forEach((name) => one.setAttribute(name, percent(now)));
        one.toggleAttribute("hidden", now < -1e-6 || now > 1 + 1e-6);
      });
      const whole = low === first && high === last;
      this.ticks.replaceChildren(...(whole ? this.drawnTicks : this.newTicks()));
      if (this.at !== null) { if (this.inside(this.at)) this.put(this.at, false); else this.take(); }
      this.able();
    }

    newTicks() {
      const [low, high] = this.view;
      const time = this.data.k === "time";
      const rough = (high - low) / 5;
      const power = 10 ** Math.floor(Math.log10(rough || 1));
      const step = (time ? STEPS : [1, 2, 5, 10].map((one) => one * power)).find((one) => one >= rough) || rough;
      const found = [];
      let day = "";
      for (let x = Math.ceil(low / step) * step; x <= high && found.length < 12; x += step) {
        const at = percent(this.share(x));
        const one = made("g", found.length % 2 ? { class: "c-more" } : {});
        const text = (words, y) => made("text", { x: at, y, "text-anchor": "middle" }, words);
        one.append(made("line", { class: "c-axis", x1: at, x2: at, y1: this.foot, y2: this.foot + 5 }));
        if (time) {
          const date = iso(x).slice(0, 10);
          one.append(text(step >= 86400 ? date.slice(5) : iso(x).slice(11, step < 60 ? 19 : 16), this.foot + 17));
          if (step < 86400 ? date !== day : date.slice(0, 4) !== day.slice(0, 4)) one.append(text(step < 86400 ? date : date.slice(0, 4), this.foot + 31));
          day = date;
        } else one.append(text(figure(x), this.foot + 17));
        found.push(one);
      }
      return found;
    }
  }

  const plots = [...document.querySelectorAll("svg[data-plot]")].map((svg) => new Plot(svg));
  const first = plots.find((one) => one.zooms);
  if (first) first.told.textContent = "Figures: move over a plot, or ← and → on it. Zoom: drag across it, or + and −.";
  const together = (plot) => plots.filter((one) => one.group === plot.group);
  const show = (plot, x, aloud) => together(plot).forEach((one) => one.put(x, aloud && one === plot));
  const hide = (plot) => together(plot).forEach((one) => one.take());
})();
