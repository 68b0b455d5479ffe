/* Searches while the user types. Only the newest response is shown, and only the results are replaced: the input
   keeps its focus, its cursor and the text that an input method is composing. */
import { say, show, troubleOf } from "./live.js";

const PAUSE_MS = 250;

let requestCount = 0;
let timer;
let controller; // of the running request

function addressOf(form) {
  const address = new URL(form.action);
  for (const [name, value] of new FormData(form)) {
    if (value) address.searchParams.append(name, value);
  }
  return address;
}

async function search(form) {
  const query = form.elements.q.value.trim();
  form.elements.order.disabled = query !== "";
  document.getElementById("order-hint").hidden = query === "";
  await load(addressOf(form));
}

async function load(address) {
  clearTimeout(timer);
  const number = ++requestCount;
  controller?.abort();
  controller = new AbortController();
  try {
    const response = await fetch(address, { headers: { "X-Part": "found" }, signal: controller.signal });
    const html = await response.text();
    if (number !== requestCount) return;
    if (!response.ok) {
      say(troubleOf(html) || document.body.dataset.away, true);
      return;
    }
    const fetched = new DOMParser().parseFromString(html, "text/html");
    showResults(html);
    say("");
    document.getElementById("count").textContent = fetched.getElementById("count")?.textContent ?? "";
    history.replaceState(null, "", address);
  } catch (error) {
    if (number === requestCount && error.name !== "AbortError") say(document.body.dataset.away, true);
  }
}

/* Replace the results. Ticked memories stay ticked; those that are not among the results move to the list above,
   so that the user sees all that a press would change. */
function showResults(html) {
  const ticked = [...document.querySelectorAll("#several .notes input:checked")];
  const rows = new Map(ticked.map((box) => [box.value, box.closest("li")]));
  show(html, "found");
  show(html, "unfiltered");
  for (const box of document.querySelectorAll("#found .notes input")) {
    box.checked = rows.delete(box.value);
  }
  const kept = document.getElementById("kept");
  kept.querySelector("ul").replaceChildren(...rows.values());
  kept.hidden = rows.size === 0;
  document.getElementById("with-chosen").hidden = !document.querySelector("#several .notes input");
}

/* Tick all memories that are shown, or none. */
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("[data-tick]");
  if (!link) return;
  event.preventDefault();
  const ticks = link.dataset.tick === "all";
  document.getElementById("choosing").checked = ticks;
  for (const box of document.querySelectorAll("#several .notes input")) box.checked = ticks;
});

function searchSoon(form) {
  clearTimeout(timer);
  timer = setTimeout(() => search(form), PAUSE_MS);
}

/* Load another page of results in place. */
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("#found nav a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  load(new URL(link.href)).then(() => document.getElementById("count").scrollIntoView());
});

/* The form of a field or a press: some fields of the search are elsewhere on the page. */
const searchForm = ({ target }) => [target, target.form].find((each) => each?.id === "search");

for (const kind of ["input", "compositionend"]) document.addEventListener(kind, (event) => {
  const form = searchForm(event);
  if (form && !event.isComposing) searchSoon(form);
});
document.addEventListener("submit", (event) => {
  const form = searchForm(event);
  if (!form) return;
  event.preventDefault();
  search(form);
});
