/* Sends forms marked `data-live` in the background and replaces the page's content by the response's. If the
   server refuses, only the reason is shown, beside its field, and the user keeps the typed text. Without JavaScript forms work, too. */

// The page of this error shows the typed text beside the stored one, so it replaces the content.
const CONFLICT = 409;
const REFRESH_MS = 10_000;

let pressed = new WeakSet(); // forms that were sent
let isLeaving = false; // a form was sent that loads another page
let ignored = { until: 0 }; // the second tap on Undo would press what the toast covered

const main = () => document.getElementById("content");

/* Show a sentence in the toast. `undo`: the form with the button "Undo", if any. */
export function say(sentence, refused = false, undo = null) {
  const line = document.getElementById("said");
  if (!line) return;
  document.querySelector("#toast form")?.remove();
  if (undo) line.after(document.adoptNode(undo));
  line.textContent = sentence;
  line.classList.toggle("trouble", refused);
  line.setAttribute("role", refused ? "alert" : "status");
}

/* Replace the element with the id `part` by the fetched page's. Returns false if one of the pages has none. */
export function show(html, part = "content") {
  const fetched = new DOMParser().parseFromString(html, "text/html");
  const fresh = fetched.getElementById(part);
  const old = document.getElementById(part);
  if (!fresh || !old) return false;
  old.replaceWith(document.adoptNode(fresh));
  if (part === "content") {
    document.title = fetched.title;
    revealCurrent();
    say(fetched.getElementById("said")?.textContent ?? "", false, fetched.querySelector("#toast form"));
  }
  document.dispatchEvent(new CustomEvent("page:shown", { detail: { part } }));
  return true;
}

/* Scroll the navigation, not the page, so that the item before the current one comes first. */
function revealCurrent() {
  for (const link of document.querySelectorAll("nav ul a[aria-current]")) {
    const first = link.parentElement.previousElementSibling ?? link;
    for (const box of [link.closest("ul"), link.closest("nav")])
      box.scrollLeft += first.getBoundingClientRect().left - box.getBoundingClientRect().left - 16;
  }
}

/* Return the error sentence of a page, or "". */
export function troubleOf(html) {
  const fetched = new DOMParser().parseFromString(html, "text/html");
  return fetched.querySelector("[role=alert]")?.textContent ?? "";
}

/* Show why a form was refused: beside the field that the page names, else in the toast. */
function refuse(form, html) {
  const alert = new DOMParser().parseFromString(html, "text/html").querySelector("[role=alert]");
  const field = form.elements[alert.dataset.field || "-"];
  if (!field?.after) return say(alert.textContent, true);
  const line = document.createElement("p");
  Object.assign(line, { id: "refused", className: "trouble", role: "alert", textContent: alert.textContent });
  field.closest("details")?.setAttribute("open", "");
  field.after(line);
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-errormessage", "refused");
  field.focus();
}

/* Remove the reason of a refusal: its form is sent again, or its field was changed. */
function clearRefusal(form) {
  document.getElementById("refused")?.remove();
  for (const field of form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
}

document.addEventListener("input", ({ target }) => {
  if (target.form && target.getAttribute("aria-errormessage")) clearRefusal(target.form);
});

async function send(form, submitter) {
  const data = new FormData(form, submitter);
  const method = submitter?.getAttribute("formmethod") ?? form.getAttribute("method");
  const isGet = method === "get";
  const hasOwnAction = submitter?.hasAttribute("formaction"); // without one, `formAction` is the page itself
  // By attributes: a field named `action` or `method` hides the form's property of that name.
  const address = new URL(hasOwnAction ? submitter.formAction : (form.getAttribute("action") ?? ""), location.href);
  if (isGet) address.search = new URLSearchParams(data).toString();
  const multipart = form.getAttribute("enctype") === "multipart/form-data";
  const body = isGet ? undefined : multipart ? data : new URLSearchParams(data);
  main().setAttribute("aria-busy", "true");
  say(""); // removes the sentence of an earlier press
  clearRefusal(form);
  const watch = form.dataset.progress && setInterval(async () => {
    const sentence = await (await fetch(form.dataset.progress)).text();
    if (main().hasAttribute("aria-busy")) say(sentence);
  }, 2000);
  try {
    const response = await fetch(address, { method, body, credentials: "same-origin" });
    const html = await response.text();
    if (!response.ok && response.status !== CONFLICT && troubleOf(html)) {
      refuse(form, html);
    } else if (show(html)) {
      const moved = new URL(response.url).pathname !== location.pathname;
      history.pushState(null, "", response.url);
      (document.querySelector("#toast form button") ?? main()).focus({ preventScroll: true });
      if (moved) scrollTo(0, 0);
    }
  } catch {
    say(document.body.dataset.away, true);
  } finally {
    clearInterval(watch);
    main().removeAttribute("aria-busy");
  }
}

/* Return whether another form has text that would be lost with the page. */
function hasUnsentText(form) {
  const fields = [...document.querySelectorAll("form[method=post] textarea, form[method=post] input:not([type])")];
  return fields.some((field) => field.form !== form && field.value !== field.defaultValue);
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.getAttribute("method") === "post" && hasUnsentText(form) && !confirm(document.body.dataset.unsaved)) {
    event.preventDefault();
    return;
  }
  if (event.defaultPrevented || form.getAttribute("method") !== "post" && !form.hasAttribute("data-live")) return;
  if (pressed.has(form)) {
    event.preventDefault(); // a double click is one press
    return;
  }
  pressed.add(form);
  if (form.closest("#toast")) ignored = { until: performance.now() + 500, box: form.getBoundingClientRect() };
  isLeaving = !form.hasAttribute("data-live");
  if (isLeaving) return;
  event.preventDefault();
  send(form, event.submitter).finally(() => pressed.delete(form));
});

window.addEventListener("beforeunload", (event) => {
  if (!isLeaving && hasUnsentText()) event.preventDefault();
});

document.addEventListener("click", (event) => {
  const { until, box } = ignored, { clientX: x, clientY: y } = event;
  if (performance.now() > until || x < box.left || x > box.right || y < box.top || y > box.bottom) return;
  event.preventDefault();
  event.stopPropagation();
}, true);

const close = document.getElementById("close-toast");
close.hidden = false;
close.addEventListener("click", () => say(""));
revealCurrent();

/* A press beside an open menu closes it, and so does Escape. */
function closeMenus(except) {
  for (const menu of document.querySelectorAll(".menu[open]")) if (!menu.contains(except)) menu.open = false;
}
document.addEventListener("click", (event) => closeMenus(event.target));
document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && document.querySelector(".menu[open]");
  if (!menu) return;
  menu.querySelector("summary").focus();
  closeMenus(null);
});

/* A menu opens upwards where there is no room below. */
document.addEventListener("toggle", ({ target }) => {
  if (!target.matches(".menu[open]")) return;
  target.classList.remove("up");
  const { bottom, height } = target.lastElementChild.getBoundingClientRect();
  target.classList.toggle("up", bottom > innerHeight && target.getBoundingClientRect().top > height);
}, true);

/* Fetch the part marked `data-refresh` again, unless the page is hidden or the user is busy in that part. */
async function refresh() {
  const part = document.querySelector("[data-refresh]");
  if (!part || document.hidden || part.contains(document.activeElement) || part.querySelector("[open]")) return;
  try {
    const response = await fetch(location.href, { credentials: "same-origin" });
    const html = await response.text();
    if (response.ok) show(html, part.id);
    else say(troubleOf(html), true);
  } catch {
    say(document.body.dataset.away, true);
  }
}

if (document.querySelector("[data-refresh]")) setInterval(refresh, REFRESH_MS);

/* When the browser shows a cached page again, let its forms be sent again. */
window.addEventListener("pageshow", () => {
  pressed = new WeakSet();
  isLeaving = false;
});

window.addEventListener("popstate", () => location.reload());
