/* The live canvas: each message of the server is the whole canvas as HTML; only changed elements are replaced. */

import { say, troubleOf } from "./live.js";

const MIN_RETRY_MS = 250;
const MAX_RETRY_MS = 8000;
const CHANGED_MS = 2000;
const GAP = 12; // as in canvas.css
const MAX_BALANCED = 12;
const SIGNED_OUT = 4401;
const DENIED = 4403;
const TOO_MANY_OPEN = 4429;

const canvas = document.getElementById("canvas");
const below = document.getElementById("below");
const status = document.getElementById("state");
const hideBox = document.getElementById("hide");

let retryMs = MIN_RETRY_MS;
let retryTimer = 0;
let socket = null;
let closeReason = ""; // why the server closed the socket
let shown = new Map(); // by id: the HTML of an element, and its node
let shownBelow = "";
let latest = null; // message
const pressed = new WeakSet(); // buttons whose forms are being sent
let currentAgent = canvas.dataset.agent;

/* ---- elements ---- */

function nodeOf(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content.firstElementChild;
}

/* Keep unchanged nodes, with their focus and open details. */
function show(message) {
  const isFirst = shownBelow === "";
  const before = shown;
  shown = new Map(
    message.elements.map(({ id, html }) => {
      const old = before.get(id);
      return [id, old?.html === html ? old : { html, node: nodeOf(html) }];
    }),
  );
  for (const [id, { html, node }] of shown) {
    node.style.viewTransitionName = `element-${id}`; // moves to its new position
    if (isFirst || before.get(id)?.html === html) continue;
    node.classList.add("changed");
    setTimeout(() => node.classList.remove("changed"), CHANGED_MS);
  }
  const still = isFirst || document.hidden || matchMedia("(prefers-reduced-motion: reduce)").matches;
  latest = message;
  if (still || !document.startViewTransition) update();
  else document.startViewTransition(update).ready.catch(() => {}); // the next one skips this one
}

function update() {
  if (!latest) return; // signed out meanwhile
  const active = document.activeElement?.closest("button");
  const holder = active?.closest(".element");
  const position = [...(holder?.querySelectorAll("button") ?? [])].indexOf(active);
  const nodes = [...shown.values()].map((each) => each.node);
  for (const node of [...canvas.children]) if (!nodes.includes(node)) node.remove();
  nodes.forEach((node, at) => {
    if (canvas.children[at] !== node) canvas.insertBefore(node, canvas.children[at] ?? null);
  });
  canvas.classList.remove("list", "board", "focus");
  canvas.classList.add(latest.mode);
  balance();
  if (latest.below !== shownBelow) below.innerHTML = latest.below;
  shownBelow = latest.below;
  if (!document.activeElement || document.activeElement === document.body)
    shown.get(holder?.dataset.id)?.node.querySelectorAll("button")[position]?.focus();
}

/* ---- two columns on a desk ---- */

const desk = matchMedia("(min-width: 56rem)");
const resized = new ResizeObserver((entries) => {
  for (const { target } of entries) target.style.gridRow = `span ${target.offsetHeight + GAP}`;
});

/* Share elements out so that the columns differ least in height, of equal ways with the first elements first. */
function balance() {
  const nodes = [...canvas.children];
  const isBalanced = desk.matches && !canvas.classList.contains("focus") && nodes.length > 1 && nodes.length <= MAX_BALANCED;
  canvas.classList.toggle("balanced", isBalanced);
  resized.disconnect();
  for (const node of nodes) node.style.gridArea = "";
  if (!isBalanced) return;
  const heights = nodes.map((node) => node.offsetHeight + GAP);
  const difference = (way) => Math.abs(heights.reduce((sum, each, at) => sum + ((way >> at) & 1 ? each : -each), 0));
  let best = 0; // its bits tell which elements stand on the right
  for (let way = 0; way < 1 << nodes.length; way += 2) if (difference(way) <= difference(best)) best = way;
  nodes.forEach((node, at) => {
    node.style.gridArea = `span ${heights[at]} / ${((best >> at) & 1) + 1}`;
    resized.observe(node);
  });
}

desk.addEventListener("change", balance);

function showNothing() {
  canvas.replaceChildren();
  below.replaceChildren();
  shown = new Map();
  shownBelow = "";
  latest = null;
}

function showStatus(sentence, away) {
  if (status.textContent !== sentence) status.textContent = sentence;
  status.classList.toggle("live", sentence === status.dataset.live);
  canvas.toggleAttribute("data-away", away);
  if (away) canvas.setAttribute("aria-busy", "true");
  else canvas.removeAttribute("aria-busy");
}

/* ---- the socket ---- */

function receive(message) {
  const agent = document.getElementById("agent");
  if (agent && message.agent !== currentAgent) agent.value = message.agent; // otherwise keep the user's unsent choice
  currentAgent = message.agent;
  retryMs = MIN_RETRY_MS;
  closeReason = "";
  show(message);
  if (canvas.hasAttribute("data-away")) say(""); // removes "can't be reached"
  showStatus(status.dataset.live, false);
}

/* Fetch the reason from the page: a socket's close reason is too short for an owner's note. */
async function showCloseReason() {
  try {
    const response = await fetch(location.href, { credentials: "same-origin" });
    if (!response.ok) closeReason = troubleOf(await response.text()) || closeReason;
    if (closeReason) showStatus(closeReason, true);
  } catch {
    // the shorter reason stays
  }
}

function connect() {
  clearTimeout(retryTimer);
  const address = new URL(canvas.dataset.socket, location.href);
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  const opened = new WebSocket(address);
  socket?.close();
  socket = opened;
  opened.addEventListener("message", (event) => {
    if (socket === opened) receive(JSON.parse(event.data));
  });
  opened.addEventListener("close", (event) => {
    if (socket !== opened) return;
    if (event.code === SIGNED_OUT || event.code === DENIED) {
      showNothing(); // the next person at this screen must not read the canvas
      closeReason = event.reason;
      retryMs = MAX_RETRY_MS;
      if (event.code === DENIED) showCloseReason();
    }
    if (event.code === TOO_MANY_OPEN) closeReason = event.reason;
    showStatus(closeReason || status.dataset.away, true);
    if (event.code === SIGNED_OUT || event.code === TOO_MANY_OPEN) return;
    retryTimer = setTimeout(connect, retryMs); // also if denied: maintenance may end
    retryMs = Math.min(2 * retryMs, MAX_RETRY_MS);
  });
}

/* ---- forms ---- */

let lastSent = 0;

async function send(form, button) {
  if (pressed.has(button)) return; // a double click is one press
  pressed.add(button);
  const number = ++lastSent;
  try {
    const response = await fetch(form.getAttribute("action"), {
      method: "post",
      body: new URLSearchParams(new FormData(form, button)),
      credentials: "same-origin",
    });
    const text = await response.text();
    if (!response.ok) {
      say(troubleOf(text), true);
      if (form.elements.agent?.id) form.elements.agent.value = currentAgent;
    }
    else if (number === lastSent) { // a later press shows its own toast and Undo
      const fetched = new DOMParser().parseFromString(text, "text/html");
      const undo = fetched.querySelector("#toast form");
      undo?.removeAttribute("data-live"); // otherwise live.js would replace the whole page
      undo?.setAttribute("data-draws", "");
      say(fetched.getElementById("said")?.textContent ?? "", false, undo);
    }
  } catch {
    say(document.body.dataset.away, true);
  } finally {
    pressed.delete(button);
  }
}

document.addEventListener("submit", (event) => {
  if (!event.target.hasAttribute("data-draws")) return;
  event.preventDefault();
  event.target.closest("details")?.removeAttribute("open");
  send(event.target, event.submitter ?? event.target);
});

document.addEventListener("toggle", ({ target }) => {
  if (target.id === "clearing" && target.open) target.scrollIntoView({ block: "nearest" });
}, true);

const agentForm = document.getElementById("agent")?.form;
if (agentForm) {
  const button = agentForm.querySelector("button");
  button.hidden = true;
  agentForm.addEventListener("change", () => agentForm.requestSubmit(button));
}

/* Hide private elements at once, and reconnect: the server then no longer sends them. */
function applyHiding() {
  canvas.classList.toggle("hiding", hideBox.checked);
  connect();
}

document.getElementById("hiding").hidden = false;
hideBox.addEventListener("change", () => {
  document.cookie = `hide-private=${hideBox.checked ? "yes" : "no"}; path=/canvas; samesite=lax`;
  applyHiding();
});

/* Another tab may have changed the setting. */
document.addEventListener("visibilitychange", () => {
  const setting = /(?:^|; )hide-private=(yes|no)/.exec(document.cookie)?.[1];
  if (document.hidden || !setting || hideBox.checked === (setting === "yes")) return;
  hideBox.checked = setting === "yes";
  applyHiding();
});

showStatus(status.dataset.connecting, false);
connect();
