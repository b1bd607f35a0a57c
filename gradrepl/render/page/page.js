"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const stage = $("stage"), panel = $("panel"), root = document.documentElement;
const nodes = new Map(data.nodes.map((node) => [node.id, node]));
const users = new Map();
for (const edge of data.edges) users.set(edge.target, [...(users.get(edge.target) || []), edge.source]);

// ---- what is drawn: one of several pictures, each with its cards and arrows
let picture, svg, home, view, cardOf;

function show(name) {
  picture = data.pictures[name];
  stage.innerHTML = picture.svg; // made by the program that wrote this page, names of tensors escaped as text
  svg = stage.querySelector("svg");
  for (const size of ["style", "width", "height"]) svg.removeAttribute(size);
  const box = svg.viewBox.baseVal;
  home = { x: box.x, y: box.y, w: box.width, h: box.height };
  cardOf = new Map();
  for (const card of picture.cards) for (const id of card.nodes) if (!cardOf.has(id)) cardOf.set(id, card.id);
  for (const card of picture.cards) cardOf.set(card.id, card.id);
  fit();
}

const element = (id) => svg.getElementById ? svg.getElementById(id) : $(id);

// ---- pan and zoom
let touched = false; // did the reader move the picture?
function look(next, byHand = true) {
  view = next;
  touched = byHand;
  svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.h}`);
}

function fit() {
  const { width, height } = stage.getBoundingClientRect();
  const scale = Math.min(width / home.w, height / home.h, 2);
  if (scale > 0.55 || !width) return look(centred(scale, height / scale), false);
  const readable = Math.min(width / home.w, 1.2); // a long graph: its head, as wide as the page
  look({ x: home.x - (width / readable - home.w) / 2, y: home.y, w: width / readable, h: height / readable }, false);
}

function centred(scale, h) {
  const w = stage.clientWidth / scale;
  return { x: home.x - (w - home.w) / 2, y: home.y - (h - home.h) / 2, w, h };
}

function zoom(factor, x = stage.clientWidth / 2, y = stage.clientHeight / 2) {
  const size = Math.min(Math.max(view.w * factor, 40), 20 * Math.max(home.w, home.h)) / view.w;
  const at = point(x, y);
  look({ x: at.x - (at.x - view.x) * size, y: at.y - (at.y - view.y) * size, w: view.w * size, h: view.h * size });
}

function point(x, y) {
  return { x: view.x + (x / stage.clientWidth) * view.w, y: view.y + (y / stage.clientHeight) * view.h };
}

function pan(dx, dy) {
  look({ ...view, x: view.x - (dx / stage.clientWidth) * view.w, y: view.y - (dy / stage.clientHeight) * view.h });
}

const fingers = new Map();
let moved = 0;
stage.addEventListener("pointerdown", (event) => {
  fingers.set(event.pointerId, event);
  moved = 0;
});
addEventListener("pointermove", (event) => {
  const before = fingers.get(event.pointerId);
  if (!before) return;
  const dx = event.clientX - before.clientX, dy = event.clientY - before.clientY;
  moved += Math.abs(dx) + Math.abs(dy);
  if (fingers.size === 1) pan(dx, dy);
  else pinch(event, before);
  fingers.set(event.pointerId, event);
  stage.classList.toggle("moving", moved > 4);
});
function pinch(event, before) {
  const other = [...fingers.values()].find((finger) => finger.pointerId !== event.pointerId);
  const distance = (finger) => Math.hypot(finger.clientX - other.clientX, finger.clientY - other.clientY) || 1;
  const box = stage.getBoundingClientRect();
  zoom(distance(before) / distance(event), (event.clientX + other.clientX) / 2 - box.left, (event.clientY + other.clientY) / 2 - box.top);
}
for (const name of ["pointerup", "pointercancel"])
  addEventListener(name, (event) => {
    fingers.delete(event.pointerId);
    stage.classList.remove("moving");
  });
stage.addEventListener("wheel", (event) => {
  event.preventDefault();
  const box = stage.getBoundingClientRect();
  zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) / 220), event.clientX - box.left, event.clientY - box.top);
}, { passive: false });
stage.addEventListener("click", (event) => {
  if (moved > 4) return;
  const card = event.target.closest(".node");
  if (card) choose(card.id);
  else clear();
});

// ---- a card is chosen: it and its neighbours stay lit, the panel tells of it
let chosen = null;
function clear() {
  chosen = null;
  panel.hidden = true;
  stage.classList.remove("chosen");
  for (const lit of stage.querySelectorAll(".lit, .picked")) lit.classList.remove("lit", "picked");
}

function choose(id, centre = false) {
  const cardId = cardOf.get(id);
  clear();
  chosen = id;
  panel.hidden = false;
  tell(id, cardId);
  if (!cardId) return;
  stage.classList.add("chosen");
  const card = element(cardId);
  card.classList.add("lit", "picked");
  for (const arrow of picture.arrows)
    if (arrow.source === cardId || arrow.target === cardId)
      for (const end of [arrow.id, arrow.source, arrow.target]) element(end)?.classList.add("lit");
  if (centre) bring(card);
}

function bring(card) {
  const box = card.getBBox();
  const outer = svg.getScreenCTM().inverse().multiply(card.getScreenCTM());
  const x = outer.a * (box.x + box.width / 2) + outer.e, y = outer.d * (box.y + box.height / 2) + outer.f;
  if (x < view.x || x > view.x + view.w || y < view.y || y > view.y + view.h)
    look({ ...view, x: x - view.w / 2, y: y - view.h / 2 });
}

// ---- the panel
function make(tag, text = "", kind = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function link(id) {
  const node = nodes.get(id), made = make("button", node ? `${id} ${title(node)}` : id, "link");
  made.onclick = () => choose(id, true);
  return made;
}

function title(node) {
  return node.kind === "leaf" ? names(node)[0] || "leaf" : node.name;
}

const names = (node) => node.outputs.flatMap((output) => output.names || []);
const shape = (sizes) => sizes ? `(${sizes.join(", ")}${sizes.length === 1 ? "," : ""})` : "";

function section(head, rows) {
  if (!rows.length) return;
  panel.append(make("h3", head));
  const list = panel.appendChild(make("ul", "", rows.length > 30 ? "long" : ""));
  for (const row of rows) {
    const item = list.appendChild(make("li"));
    item.append(...(Array.isArray(row) ? row : [row]));
  }
}

function tell(id, cardId) {
  panel.replaceChildren(Object.assign(make("button", "×", "close"), { onclick: clear, ariaLabel: "Close" }));
  panel.scrollTop = 0;
  const node = nodes.get(id), card = picture.cards.find((each) => each.id === cardId);
  if (node) return tellNode(node, cardId);
  if (!card) return;
  if (card.nodes.length === 1 && nodes.has(card.nodes[0]) && card.kind !== "fold" && card.kind !== "omitted") return tellNode(nodes.get(card.nodes[0]), cardId);
  panel.append(make("h2", card.title), ...card.lines.map((line) => make("p", line, "dim")));
  if (card.tip) panel.append(make("p", card.tip.split("\n")[0]));
  offerPictures(card);
  section(`${card.nodes.length} nodes`, card.nodes.slice(0, 2000).map(link));
}

function offerPictures(card) {
  if (data.pictures[card.id]) {
    const open = make("button", "Open it in the picture");
    open.onclick = () => { clear(); show(card.id); $("fit").textContent = "Fold again"; };
    panel.append(open);
  }
}

function tellNode(node, cardId) {
  panel.append(make("h2", title(node)), make("p", [node.id, node.kind === "leaf" ? "leaf" : node.kind, cardId && cardId !== node.id ? `behind ${cardId}` : ""].filter(Boolean).join(" · "), "dim"));
  for (const fault of node.faults || []) panel.append(make("p", `! ${fault}`, "fault"));
  const step = at >= 0 && data.steps[at] && data.steps[at].node === node.id ? data.steps[at] : null;
  if (step) section("now", step.lines.map((line) => make("code", line)));
  section("derivative", Object.entries(node.formulas || {}).map(([input, text]) => make("code", `${input}: ${text}`)));
  section("result", node.outputs.map((output, number) => outputText(output, node.outputs.length > 1 ? `${number}: ` : "")));
  if (node.kind === "leaf") section("leaf", [`.grad is ${node.has_grad ? "set" : "None"}, used ${node.uses || 0} times`]);
  section("inputs", (node.inputs || []).map((input, place) => inputText(input, place)));
  section("arguments", Object.entries(node.arguments || {}).map(([name, value]) => make("code", `${name} = ${JSON.stringify(value)}`)));
  section("saved for backward", (node.saved || []).map(savedText));
  section("used by", (users.get(node.id) || []).map(link));
  if (node.source) section("line", [`${node.source.filename}:${node.source.line}`, make("code", node.source.text || "")]);
  if (node.defined) section("defined", [`${node.defined.filename}:${node.defined.line}`]);
  if (node.scope) section("modules", [node.scope.join(" › ")]);
}

function outputText(output, number) {
  const words = [(output.names || []).join(", "), shape(output.shape), output.dtype, output.device === "cpu" ? "" : output.device];
  const rows = [number + words.filter(Boolean).join(" ")];
  if (output.value) rows.push(`value ${output.value.text}`);
  if (output.grad) rows.push(`gradient ${output.grad.text}`);
  if (output.hooks) rows.push(`${output.hooks} hooks`);
  if (output.retains_grad) rows.push("retains its gradient");
  return rows.flatMap((row, index) => index ? [document.createElement("br"), row] : [row]);
}

function inputText(input, place) {
  const head = `${input.name || place}: `;
  return input.node ? [head, link(input.node), input.output ? ` output ${input.output}` : ""] : [head, make("span", "constant", "dim")];
}

const STATES = { freed: "freed by backward", packed: "behind a saved-tensor hook", unread: "not looked at" };
function savedText(saved) {
  if (saved.state !== "held") return `${saved.slots.join(", ")}: ${STATES[saved.state]}`;
  const words = [`${saved.slots.join(", ")}: `, ...(saved.names ? [`${saved.names.join(", ")} `] : []), `${shape(saved.shape)} ${saved.dtype} · ${saved.bytes} bytes`];
  if (saved.expected !== undefined) words.push(make("span", ` version ${saved.expected}, now ${saved.version}`, "fault"));
  if (saved.value) words.push(document.createElement("br"), `value ${saved.value.text}`);
  if (saved.node) words.push(" · ", link(saved.node));
  return words;
}

// ---- search
let hits = [], hit = -1;
function search(words) {
  for (const old of stage.querySelectorAll(".found")) old.classList.remove("found");
  const wanted = words.trim().toLowerCase();
  hits = wanted ? data.nodes.filter((node) => matches(node, wanted)).map((node) => node.id) : [];
  hits.sort((a, b) => (b === wanted) - (a === wanted));
  hit = -1;
  for (const id of hits) element(cardOf.get(id) || "")?.classList.add("found");
  $("found").textContent = wanted ? `${hits.length} found` : "";
}

function matches(node, wanted) {
  return node.id === wanted || node.name.toLowerCase().includes(wanted) && node.kind !== "leaf" || names(node).some((name) => name.toLowerCase().includes(wanted));
}

function next(way) {
  if (!hits.length) return;
  hit = (hit + way + hits.length) % hits.length;
  choose(hits[hit], true);
  $("found").textContent = `${hit + 1} of ${hits.length}`;
}
$("find").addEventListener("input", () => search($("find").value));
$("find").addEventListener("keydown", (event) => {
  if (event.key === "Enter") next(event.shiftKey ? -1 : 1);
  if (event.key === "Escape") { $("find").value = ""; search(""); clear(); stage.focus(); }
  event.stopPropagation();
});

// ---- backward, step by step
let at = -1;
function step(number) {
  if (!data.steps.length) return;
  at = Math.max(0, Math.min(data.steps.length - 1, number));
  $("step").value = at;
  for (const old of stage.querySelectorAll(".now, .done")) old.classList.remove("now", "done");
  for (const past of data.steps.slice(0, at)) element(cardOf.get(past.node) || "")?.classList.add("done");
  const now = data.steps[at], card = element(cardOf.get(now.node) || "");
  if (card) { card.classList.remove("done"); card.classList.add("now"); bring(card); }
  $("stepped").textContent = `${at + 1} of ${data.steps.length}: ${now.title || now.node}`;
  if (nodes.has(now.node)) { panel.hidden = false; chosen = now.node; tell(now.node, cardOf.get(now.node)); }
}

// ---- light and dark, keys
function theme() {
  const dark = root.classList.contains("dark") || !root.classList.contains("light") && matchMedia("(prefers-color-scheme: dark)").matches;
  root.classList.remove("dark", "light");
  root.classList.add(dark ? "light" : "dark");
}

function keys() {
  clear();
  panel.hidden = false;
  panel.replaceChildren(Object.assign(make("button", "×", "close"), { onclick: clear, ariaLabel: "Close" }), make("h2", "Keys"));
  section("", ["arrows: move", "+ and -: zoom", "0: fit the picture", "/: search, Enter the next one", "n and p: next and previous node", "[ and ]: step through backward", "t: light or dark", "Esc: close"]);
  section("notes", picture.notes);
}

function neighbour(way) {
  const order = data.nodes.map((node) => node.id), place = order.indexOf(chosen);
  choose(order[(place + way + order.length) % order.length], true);
}

function fitOrFold() {
  if (picture !== data.pictures.whole) { clear(); show("whole"); $("fit").textContent = "Fit"; } else fit();
}

const PRESSED = {
  "+": () => zoom(0.8), "=": () => zoom(0.8), "-": () => zoom(1.25), "0": fit, "/": () => $("find").focus(), "Escape": clear, "t": theme, "?": keys,
  "n": () => neighbour(1), "p": () => neighbour(-1), "[": () => step(at - 1), "]": () => step(at + 1),
  "ArrowLeft": () => pan(60, 0), "ArrowRight": () => pan(-60, 0), "ArrowUp": () => pan(0, 60), "ArrowDown": () => pan(0, -60),
};
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "INPUT") return;
  const action = PRESSED[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});
$("in").onclick = () => zoom(0.8);
$("out").onclick = () => zoom(1.25);
$("fit").onclick = fitOrFold;
$("theme").onclick = theme;
$("keys").onclick = keys;
$("before").onclick = () => step(at - 1);
$("after").onclick = () => step(at + 1);
$("step").oninput = () => step(Number($("step").value));
new ResizeObserver(() => touched || fit()).observe(stage); // the window, or the panel opens

show("whole");
if (data.steps.length) {
  $("steps").hidden = false;
  $("step").max = data.steps.length - 1;
  $("stepped").textContent = `${data.steps.length} steps of backward`;
  fit();
}
if (data.theme !== "auto") root.classList.add(data.theme);
