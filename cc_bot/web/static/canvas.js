/* The live canvas: what the server sends goes through the reducer, and what has changed is shown. */

import { EMPTY, receive } from "/static/canvas_reducer.js";
import { say, troubleOf } from "/static/live.js";

const FIRST_MS = 250;
const LONGEST_MS = 8000;
const SIGNED_OUT = 4401;
const DENIED = 4403;
const TOO_MANY_OPEN = 4429;

const canvas = document.getElementById("canvas");
const told = document.getElementById("state");
const hide = document.getElementById("hide");
const template = document.getElementById("element");

let state = EMPTY;
let wait = FIRST_MS;
let waiting = 0;
let socket = null;
let shutOut = ""; // the reason, while somebody may not look
const shown = new Map();
const pressed = new WeakSet();
let answering = document.querySelector("#clearing [name=agent]").value;

/* ---- what is shown ---- */

function isHidden(element) {
  return hide.checked && element.visibility === "private";
}

function isInSight(element) {
  return !isHidden(element) && (state.mode !== "focus" || element.id === state.focus);
}

function make(element) {
  const node = template.content.firstElementChild.cloneNode(true);
  node.dataset.id = element.id;
  node.querySelector("[name=id]").value = element.id;
  node.querySelector("[name=agent]").value = answering;
  return node;
}

function write(node, element, before) {
  const name = element.title || canvas.dataset.untitled;
  const label = canvas.dataset.remove.replace("{title}", name);
  const heading = node.querySelector(".name");
  heading.textContent = name;
  heading.classList.toggle("heard", !element.title);
  node.classList.toggle("untitled", !element.title);
  node.querySelector(".lock").hidden = element.visibility !== "private";
  const remove = node.querySelector(".remove");
  remove.setAttribute("aria-label", label);
  remove.title = label;
  if (before?.html !== element.html) node.querySelector(".body").innerHTML = element.html ?? "";
}

function show() {
  const wanted = state.elements.filter(isInSight);
  const ids = new Set(wanted.map((each) => each.id));
  for (const node of [...canvas.children]) {
    if (!ids.has(node.dataset.id)) {
      node.remove();
      shown.delete(node.dataset.id);
    }
  }
  wanted.forEach((element, place) => {
    const before = shown.get(element.id);
    const node =
      [...canvas.children].find((each) => each.dataset.id === element.id) ?? make(element);
    if (before !== element) write(node, element, before);
    if (canvas.children[place] !== node) canvas.insertBefore(node, canvas.children[place] ?? null);
    shown.set(element.id, element);
  });
  canvas.className = `canvas ${state.mode}`;
  const any = state.elements.some((each) => !isHidden(each));
  document.getElementById("empty").hidden = any;
  document.getElementById("clearing").hidden = state.elements.length === 0;
  const others = state.elements.filter((each) => !isHidden(each) && !isInSight(each));
  const line = document.getElementById("others");
  line.hidden = others.length === 0;
  line.querySelector("span").textContent = others
    .map((each) => each.title || canvas.dataset.untitled)
    .join(" ・ ");
}

function tell(sentence, away) {
  if (told.textContent !== sentence) told.textContent = sentence;
  canvas.toggleAttribute("data-away", away);
  if (away) canvas.setAttribute("aria-busy", "true");
  else canvas.removeAttribute("aria-busy");
}

/* ---- the socket ---- */

function take(message) {
  const next = receive(state, message);
  if (next === null) {
    socket.send(JSON.stringify({ command: "canvas_resend" }));
    return;
  }
  state = next;
  const agent = document.getElementById("agent");
  if (message.agent && agent && message.agent.name !== answering) agent.value = message.agent.name;
  answering = message.agent?.name ?? answering; // what somebody is about to choose stays chosen
  wait = FIRST_MS;
  shutOut = "";
  show();
  for (const named of document.querySelectorAll("[data-draws] input[name=agent]")) named.value = answering;
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
  socket = opened;
  opened.addEventListener("message", (event) => take(JSON.parse(event.data)));
  opened.addEventListener("close", (event) => {
    if (socket !== opened) return;
    if (event.code === SIGNED_OUT || event.code === DENIED) {
      state = EMPTY; // whoever comes next to this screen is not to read on
      show();
      document.getElementById("empty").hidden = true;
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

document.getElementById("hiding").hidden = false;
hide.addEventListener("change", () => {
  document.cookie = `hide-private=${hide.checked ? "yes" : "no"}; path=/canvas; samesite=lax`;
  show();
});

/* Another tab may have been told to hide it. */
document.addEventListener("visibilitychange", () => {
  const kept = /(?:^|; )hide-private=(yes|no)/.exec(document.cookie)?.[1];
  if (document.hidden || !kept || hide.checked === (kept === "yes")) return;
  hide.checked = kept === "yes";
  show();
});

tell(told.dataset.connecting, false);
connect();
