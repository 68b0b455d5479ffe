/* Searches as one types: after a short rest, never while a word is still being composed, and an answer that
   comes late never takes the place of a newer one. */

import { say, show, troubleOf } from "/static/live.js";

const REST_MS = 250;
const form = document.getElementById("searching");
const field = document.getElementById("q");
let resting = 0;
let newest = 0;
let asked = field.value;

async function search() {
  const text = field.value.trim();
  if (text === asked.trim()) return;
  asked = text;
  newest += 1;
  const mine = newest;
  const address = `/memories?${new URLSearchParams(new FormData(form))}`;
  const results = document.getElementById("results");
  results.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(address, { credentials: "same-origin" });
    const html = await answer.text();
    if (mine !== newest) return;
    if (!answer.ok) say(troubleOf(html), true);
    else if (show(html, "results")) history.replaceState(null, "", address);
  } catch {
    if (mine === newest) say(document.body.dataset.away, true);
  } finally {
    if (mine === newest) document.getElementById("results").removeAttribute("aria-busy");
  }
}

field.addEventListener("input", (event) => {
  clearTimeout(resting);
  if (!event.isComposing) resting = setTimeout(search, REST_MS);
});
field.addEventListener("compositionend", () => {
  clearTimeout(resting);
  resting = setTimeout(search, REST_MS);
});
