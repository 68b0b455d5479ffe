/* Searches as one types. An answer is shown only if nothing newer was asked since, and only the part with what
   was found is replaced: the input keeps its focus, its cursor, and what an input method is composing. */
import { say, show } from "/static/live.js";

const PAUSE_MS = 250;

let asked = 0;
let waiting;
let underway;
let composing = false;

function addressOf(form) {
  const address = new URL(form.action);
  for (const [name, value] of new FormData(form)) {
    if (value) address.searchParams.append(name, value);
  }
  return address;
}

async function find(form) {
  const query = form.elements.q.value.trim();
  form.elements.order.disabled = query !== "";
  document.getElementById("order-hint").hidden = query === "";
  await load(addressOf(form));
}

async function load(address) {
  clearTimeout(waiting);
  const mine = ++asked;
  underway?.abort();
  underway = new AbortController();
  try {
    const answer = await fetch(address, { headers: { "X-Part": "found" }, signal: underway.signal });
    const html = await answer.text();
    if (mine !== asked) return;
    const fetched = new DOMParser().parseFromString(html, "text/html");
    if (!answer.ok) {
      say(fetched.querySelector("[role=alert]")?.textContent ?? document.body.dataset.away, true);
      return;
    }
    showFound(html);
    say("");
    document.getElementById("count").textContent = fetched.getElementById("count")?.textContent ?? "";
    history.replaceState(null, "", address);
  } catch (error) {
    if (mine === asked && error.name !== "AbortError") say(document.body.dataset.away, true);
  }
}

/* Put what was found in the place of what stands there. What was ticked stays ticked: what is not among it moves
   to the list above, so that everybody sees what a press would change. */
function showFound(html) {
  const ticked = [...document.querySelectorAll("#several .notes input:checked")];
  const rows = new Map(ticked.map((box) => [box.value, box.closest("li")]));
  show(html, "found");
  for (const box of document.querySelectorAll("#found .notes input")) {
    box.checked = rows.delete(box.value);
  }
  const kept = document.getElementById("kept");
  kept.querySelector("ul").replaceChildren(...rows.values());
  kept.hidden = rows.size === 0;
  document.getElementById("with-chosen").hidden = !document.querySelector("#several .notes input");
}

function soon(form) {
  clearTimeout(waiting);
  waiting = setTimeout(() => find(form), PAUSE_MS);
}

/* Another page of what was found: what was ticked on this one stays so. */
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("#found nav a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  load(new URL(link.href)).then(() => document.getElementById("count").scrollIntoView());
});

const searched = (event) => event.target.closest?.("#search");

document.addEventListener("compositionstart", () => {
  composing = true;
  clearTimeout(waiting);
});
document.addEventListener("compositionend", (event) => {
  composing = false;
  const form = searched(event);
  if (form) soon(form);
});
document.addEventListener("input", (event) => {
  const form = searched(event);
  if (form && !composing && !event.isComposing) soon(form);
});
document.addEventListener("submit", (event) => {
  const form = searched(event);
  if (!form) return;
  event.preventDefault();
  find(form);
});
