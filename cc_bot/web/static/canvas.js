/* The live canvas: each message of the server is the whole canvas as HTML, and what has changed is shown. */

import { say, troubleOf } from "/static/live.js";

const FIRST_MS = 250;
const LONGEST_MS = 8000;
const SIGNED_OUT = 4401;
const DENIED = 4403;
const TOO_MANY_OPEN = 4429;

const canvas = document.getElementById("canvas");
const below = document.getElementById("below");
const told = document.getElementById("state");
const hide = document.getElementById("hide");

let wait = FIRST_MS;
let waiting = 0;
let socket = null;
let shutOut = ""; // the reason, while somebody may not look
let shown = new Map(); // by id: the HTML of an element, and its node
let shownBelow = "";
const pressed = new WeakSet();
let answering = canvas.dataset.agent;

/* ---- what is shown ---- */

function nodeOf(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content.firstElementChild;
}

/* Nodes that have not changed stay, with their focus and what is open in them. */
function show(message) {
  const focused = document.activeElement?.closest(".element .remove")?.closest(".element").dataset.id;
  const next = new Map(
    message.elements.map(({ id, html }) => {
      const old = shown.get(id);
      return [id, old?.html === html ? old : { html, node: nodeOf(html) }];
    }),
  );
  const nodes = [...next.values()].map((each) => each.node);
  for (const node of [...canvas.children]) if (!nodes.includes(node)) node.remove();
  nodes.forEach((node, at) => {
    if (canvas.children[at] !== node) canvas.insertBefore(node, canvas.children[at] ?? null);
  });
  shown = next;
  canvas.classList.remove("list", "board", "focus");
  canvas.classList.add(message.mode);
  if (message.below !== shownBelow) below.innerHTML = message.below;
  shownBelow = message.below;
  if (!document.activeElement || document.activeElement === document.body)
    next.get(focused)?.node.querySelector(".remove").focus();
}

function showNothing() {
  canvas.replaceChildren();
  below.replaceChildren();
  shown = new Map();
  shownBelow = "";
}

function tell(sentence, away) {
  if (told.textContent !== sentence) told.textContent = sentence;
  canvas.toggleAttribute("data-away", away);
  if (away) canvas.setAttribute("aria-busy", "true");
  else canvas.removeAttribute("aria-busy");
}

/* ---- the socket ---- */

function take(message) {
  const agent = document.getElementById("agent");
  if (agent && message.agent !== answering) agent.value = message.agent; // else what is about to be chosen stays
  answering = message.agent;
  wait = FIRST_MS;
  shutOut = "";
  show(message);
  if (canvas.hasAttribute("data-away")) say(""); // what was told while nobody could be reached
  tell(told.dataset.live, false);
}

/* The page itself says more than a socket that is closed has room for: what an owner noted, for one. */
async function tellWhy() {
  try {
    const answer = await fetch(location.href, { credentials: "same-origin" });
    if (!answer.ok) shutOut = troubleOf(await answer.text()) || shutOut;
    if (shutOut) tell(shutOut, true);
  } catch {
    // what was told stays
  }
}

function connect() {
  clearTimeout(waiting);
  const address = new URL(canvas.dataset.socket, location.href);
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  const opened = new WebSocket(address);
  socket?.close();
  socket = opened;
  opened.addEventListener("message", (event) => {
    if (socket === opened) take(JSON.parse(event.data));
  });
  opened.addEventListener("close", (event) => {
    if (socket !== opened) return;
    if (event.code === SIGNED_OUT || event.code === DENIED) {
      showNothing(); // whoever comes next to this screen is not to read on
      shutOut = event.reason;
      wait = LONGEST_MS;
      if (event.code === DENIED) tellWhy();
    }
    if (event.code === TOO_MANY_OPEN) shutOut = event.reason;
    tell(shutOut || told.dataset.away, true);
    if (event.code === SIGNED_OUT || event.code === TOO_MANY_OPEN) return;
    waiting = setTimeout(connect, wait); // also of whoever may not come in now: a maintenance ends
    wait = Math.min(2 * wait, LONGEST_MS);
  });
}

/* ---- what is pressed ---- */

async function press(form) {
  if (pressed.has(form)) return; // a double click is one press
  pressed.add(form);
  try {
    const answer = await fetch(form.getAttribute("action"), {
      method: "post",
      body: new URLSearchParams(new FormData(form)),
      credentials: "same-origin",
    });
    const text = await answer.text();
    if (!answer.ok) {
      say(troubleOf(text), true);
      if (form.elements.agent?.id) form.elements.agent.value = answering;
    }
    else say(new DOMParser().parseFromString(text, "text/html").getElementById("said")?.textContent ?? "");
  } catch {
    say(document.body.dataset.away, true);
  } finally {
    pressed.delete(form);
  }
}

document.addEventListener("submit", (event) => {
  if (!event.target.hasAttribute("data-draws")) return;
  event.preventDefault();
  event.target.closest("details")?.removeAttribute("open");
  press(event.target);
});

/* Hide what is private at once; the server sends no more of it to a new socket. */
function hideOrShow() {
  canvas.classList.toggle("hiding", hide.checked);
  connect();
}

document.getElementById("hiding").hidden = false;
hide.addEventListener("change", () => {
  document.cookie = `hide-private=${hide.checked ? "yes" : "no"}; path=/canvas; samesite=lax`;
  hideOrShow();
});

/* Another tab may have been told to hide it. */
document.addEventListener("visibilitychange", () => {
  const kept = /(?:^|; )hide-private=(yes|no)/.exec(document.cookie)?.[1];
  if (document.hidden || !kept || hide.checked === (kept === "yes")) return;
  hide.checked = kept === "yes";
  hideOrShow();
});

tell(told.dataset.connecting, false);
connect();
