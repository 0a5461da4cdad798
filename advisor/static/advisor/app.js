// What every page shares: copy buttons, keys, folding, files dropped on the upload page. No inline code, no eval.
"use strict";

const ROWS = "[data-row]";
const typing = (element) => element.closest("input, textarea, select, [contenteditable]") !== null;

function copy(button) {
  const source = button.dataset.copy ? document.getElementById(button.dataset.copy) : button.parentElement.querySelector("pre, code");
  const said = button.textContent;
  const done = (word) => {
    button.textContent = word;
    button.setAttribute("aria-live", "polite");
    setTimeout(() => { button.textContent = said; }, 1500);
  };
  const text = source.textContent;
  if (navigator.clipboard) {
    navigator.clipboard.writeText(text).then(() => done("Copied"), () => select(source, done));
  } else {
    select(source, done);
  }
}

// Without a secure context there is no clipboard: select the text, the old command copies it.
function select(source, done) {
  const range = document.createRange();
  range.selectNodeContents(source);
  const selection = getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
  done(document.execCommand("copy") ? "Copied" : "Selected: press Ctrl+C");
}

function move(step) {
  const rows = [...document.querySelectorAll(ROWS)].filter((row) => row.offsetParent !== null);
  if (!rows.length) return;
  const now = rows.findIndex((row) => row.classList.contains("at"));
  const next = rows[Math.min(rows.length - 1, Math.max(0, now + step))];
  rows.forEach((row) => row.classList.toggle("at", row === next));
  (next.querySelector("summary, a") || next).focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

function fold(within = "main") {
  const all = [...document.querySelectorAll(`${within} details`)];
  const open = all.some((one) => !one.open);
  all.forEach((one) => { one.open = open; });
}

let waiting = "";
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  if (document.querySelector("dialog[open]")) return;
  const key = event.key;
  if (waiting === "g") {
    waiting = "";
    const link = document.querySelector(`a[data-key="${CSS.escape(key)}"]`);
    if (link) { event.preventDefault(); link.click(); }
    return;
  }
  const at = document.querySelector(`${ROWS}.at`);
  if (key === "g") { waiting = "g"; setTimeout(() => { waiting = ""; }, 1200); return; }
  if (key === "j") move(1);
  else if (key === "k") move(-1);
  else if (key === "e") fold();
  else if (key === "o" && at && at.querySelector(":scope > details")) at.querySelector(":scope > details > summary").click();
  else if (key === "c" && at && at.querySelector(".copy")) copy(at.querySelector(".copy"));
  else if (key === "x" && at && at.querySelector(".pick input")) at.querySelector(".pick input").click();
  else if (key === "/" && document.querySelector("[data-search]")) document.querySelector("[data-search]").focus();
  else if (key === "?") document.getElementById("keys").showModal();
  else return;
  event.preventDefault();
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.classList.contains("copy")) copy(button);
  if (button.hasAttribute("data-keys-help")) document.getElementById("keys").showModal();
  if (button.hasAttribute("data-print")) print();
  if (button.dataset.fold) fold(`#${CSS.escape(button.dataset.fold)} .row >`);
  if (button.hasAttribute("data-pick-all")) pickAll(button.dataset.pickAll);
});

// Rows that are ticked: all of the page by one button, and how many they are. A box may stand for several findings.
const picks = (of = "") => [...document.querySelectorAll(`.pick input${of}`)];
function pickAll(of) {
  const all = picks(of).every((one) => one.checked);
  picks(of).forEach((one) => { one.checked = !all; });
  picked();
}

function picked() {
  const count = new Set(picks().filter((one) => one.checked).flatMap((one) => one.value.split(","))).size;
  const said = document.querySelector("[data-picked]");
  if (said) said.textContent = `${count} selected`;
}

document.addEventListener("change", (event) => { if (event.target.closest(".pick")) picked(); });

// Many check boxes of one choice get a filter, and a button for all that it shows.
document.querySelectorAll("fieldset:has(input.choice)").forEach((set) => {
  const boxes = [...set.querySelectorAll("input.choice")];
  if (boxes.length < 2) return;
  const row = (box) => box.closest("label").parentElement;
  const bar = document.createElement("p");
  const filter = Object.assign(document.createElement("input"), { type: "search", placeholder: "Filter by name" });
  const all = Object.assign(document.createElement("button"), { type: "button", className: "small", textContent: "Select all shown" });
  filter.setAttribute("aria-label", "Filter the boxes below by name");
  bar.className = "bar";
  bar.append(filter, all);
  set.querySelector("legend").after(bar);
  const shown = () => boxes.filter((box) => !row(box).hidden);
  filter.addEventListener("input", () => boxes.forEach((box) => {
    row(box).hidden = !box.closest("label").textContent.toLowerCase().includes(filter.value.trim().toLowerCase());
  }));
  filter.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
  all.addEventListener("click", () => {
    const every = shown().every((box) => box.checked);
    shown().forEach((box) => { box.checked = !every; });
  });
});

// Buttons that only a script serves are shown by it.
document.querySelectorAll("button[data-fold]").forEach((button) => { button.hidden = false; });

// The theme is the system's until somebody switches; the server reads the cookie, so that no page flashes.
const themes = document.querySelector("[data-theme-switch]");
if (themes) {
  const root = document.documentElement;
  themes.hidden = false;
  themes.addEventListener("click", () => {
    const now = root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
    document.cookie = `theme=${root.dataset.theme}; path=/; max-age=31536000; samesite=lax`;
  });
}

// A confirmation for what cannot be taken back.
document.addEventListener("submit", (event) => {
  const asks = event.target.dataset.confirm;
  if (asks && !confirm(asks)) event.preventDefault();
});

// A finding or the script of a step named in the address is opened; printing opens everything.
const opened = () => {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && target.closest("details")) target.closest("details").open = true;
  if (target) target.querySelectorAll(":scope > details, :scope > .scripts details").forEach((one) => { one.open = true; });
};
addEventListener("hashchange", opened);
opened();
addEventListener("beforeprint", () => document.querySelectorAll("main details:not(.no-print)").forEach((one) => { one.open = true; }));

// What was waited for is handed over as soon as it is there.
document.addEventListener("htmx:afterSettle", () => {
  const ready = document.querySelector("a[data-ready]");
  if (ready) { ready.removeAttribute("data-ready"); ready.click(); }
});

// Where the next page, or a file, is not there within a second, it is said that it is on its way, and for how long.
const onItsWay = document.querySelector(".on-its-way");
if (onItsWay) {
  let counting = 0;
  const arrived = () => { clearInterval(counting); onItsWay.hidden = true; };
  const leave = () => {
    arrived();
    document.cookie = "handed-over=; path=/; max-age=0; samesite=lax";
    const since = Date.now();
    counting = setInterval(() => {
      const seconds = Math.floor((Date.now() - since) / 1000);
      if (document.cookie.includes("handed-over=")) arrived();
      else if (seconds) { onItsWay.hidden = false; onItsWay.lastElementChild.textContent = `${seconds} s`; }
    }, 250);
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || link.target) return;
    if (link.origin === location.origin && !(link.hash && link.href.split("#")[0] === location.href.split("#")[0])) leave();
  });
  document.addEventListener("submit", (event) => {
    if (!event.defaultPrevented && event.target.method !== "dialog" && !event.target.target) leave();
  });
  addEventListener("keydown", (event) => { if (event.key === "Escape") arrived(); });
  addEventListener("pageshow", arrived);
  addEventListener("pagehide", arrived);
}

const drop = document.querySelector(".drop");
if (drop) {
  const form = drop.closest("form");
  const input = form.querySelector("input[type=file]");
  const chosen = form.querySelector("[data-chosen]");
  const bar = form.querySelector("progress");
  const told = form.querySelector("[data-told]");
  const show = () => { chosen.textContent = [...input.files].map((file) => file.name).join(", "); };
  ["dragenter", "dragover"].forEach((name) => drop.addEventListener(name, (event) => { event.preventDefault(); drop.classList.add("over"); }));
  ["dragleave", "drop"].forEach((name) => drop.addEventListener(name, (event) => { event.preventDefault(); drop.classList.remove("over"); }));
  drop.addEventListener("drop", (event) => { input.files = event.dataTransfer.files; show(); });
  input.addEventListener("change", show);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.setRequestHeader("Accept", "application/json");
    request.upload.addEventListener("progress", (step) => {
      if (!step.lengthComputable) return;
      bar.hidden = false;
      bar.max = step.total;
      bar.value = step.loaded;
      told.textContent = step.loaded < step.total ? `Sending, ${Math.round(100 * step.loaded / step.total)} %` : "Sent; being stored";
    });
    request.addEventListener("load", () => {
      let answer = {};
      try { answer = JSON.parse(request.responseText); } catch { /* a page of an error: say its status */ }
      if (answer.location) { location.assign(answer.location); return; }
      bar.hidden = true;
      told.textContent = answer.error || `Not taken (status ${request.status}).`;
    });
    request.addEventListener("error", () => { bar.hidden = true; told.textContent = "The line to the server broke: nothing was taken."; });
    request.send(new FormData(form));
  });
}
