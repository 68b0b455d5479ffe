/* Searches as one types: after a short rest, never while a word is still being composed, and an answer that
   comes late never takes the place of a newer one. Whatever takes the page's place later is listened to too. */

import { say, show, troubleOf } from "/static/live.js";

const REST_MS = 250;
let resting = 0;
let newest = 0;

async function search(form) {
  newest += 1;
  const mine = newest;
  const address = `/memories?${new URLSearchParams(new FormData(form))}`;
  document.getElementById("results")?.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(address, { credentials: "same-origin" });
    const html = await answer.text();
    if (mine !== newest) return;
    if (!answer.ok) say(troubleOf(html), true);
    else if (show(html, "results")) history.replaceState(null, "", address);
  } catch {
    if (mine === newest) say(document.body.dataset.away, true);
  } finally {
    if (mine === newest) document.getElementById("results")?.removeAttribute("aria-busy");
  }
}

function rest(event) {
  if (event.target.id !== "q" || event.isComposing) return;
  clearTimeout(resting);
  resting = setTimeout(search, REST_MS, event.target.form);
}

document.addEventListener("input", rest);
document.addEventListener("compositionend", rest);
