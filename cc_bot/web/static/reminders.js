/* Shows how the bot understands a time while the user types it. */
const PAUSE_MS = 250;
let timer;
let newest;

document.addEventListener("input", (event) => {
  const hint = event.target.form?.querySelector("[data-reading]");
  if (event.target.name !== "when" || !hint || event.isComposing) return;
  hint.dataset.hint ??= hint.textContent;
  newest = event.target;
  clearTimeout(timer);
  timer = setTimeout(read, PAUSE_MS, hint, newest.value);
});

async function read(hint, when) {
  let reading = "";
  try {
    const response = await fetch(`${hint.dataset.reading}?${new URLSearchParams({ when })}`);
    if (response.ok) reading = await response.text();
  } catch {
    // the hint is shown
  }
  if (when !== newest.value) return;
  hint.textContent = reading ? `→ ${reading}` : hint.dataset.hint;
  hint.classList.toggle("good", reading !== "");
}
