/* Sends forms marked `data-live` in the background and replaces the page's content by the response's. If the
   server refuses, only the reason is shown, and the user keeps the typed text. Without JavaScript forms work, too. */

// Its page shows the typed text beside the stored one, so it is shown like a success.
const CONFLICT = 409;

let pressed = new WeakSet(); // forms that were sent

const main = () => document.getElementById("content");

/* Show a sentence at the top of the page. */
export function say(sentence, refused = false) {
  const line = document.getElementById("said");
  if (!line) return;
  line.textContent = sentence;
  line.classList.toggle("trouble", refused);
  line.setAttribute("role", refused ? "alert" : "status");
}

/* Replace the element with the id `part` by that of a fetched page. Returns false if either has none. */
export function show(html, part = "content") {
  const fetched = new DOMParser().parseFromString(html, "text/html");
  const fresh = fetched.getElementById(part);
  const old = document.getElementById(part);
  if (!fresh || !old) return false;
  old.replaceWith(document.adoptNode(fresh));
  if (part === "content") document.title = fetched.title;
  document.dispatchEvent(new CustomEvent("page:shown", { detail: { part } }));
  return true;
}

/* Return the error sentence of a page, or "". */
export function troubleOf(html) {
  const fetched = new DOMParser().parseFromString(html, "text/html");
  return fetched.querySelector("[role=alert]")?.textContent ?? "";
}

async function send(form, submitter) {
  const data = new FormData(form, submitter);
  const isGet = form.getAttribute("method") === "get";
  const hasOwnAction = submitter?.hasAttribute("formaction"); // without one, `formAction` is the page itself
  // By attributes: a field named `action` or `method` hides the form's property of that name.
  const address = new URL(hasOwnAction ? submitter.formAction : (form.getAttribute("action") ?? ""), location.href);
  if (isGet) address.search = new URLSearchParams(data).toString();
  const multipart = form.getAttribute("enctype") === "multipart/form-data";
  const body = isGet ? undefined : multipart ? data : new URLSearchParams(data);
  main().setAttribute("aria-busy", "true");
  say(""); // removes the sentence of an earlier press
  try {
    const method = form.getAttribute("method");
    const response = await fetch(address, { method, body, credentials: "same-origin" });
    const html = await response.text();
    if (!response.ok && response.status !== CONFLICT && troubleOf(html)) {
      say(troubleOf(html), true);
    } else if (show(html)) {
      history.pushState(null, "", response.url);
      main().focus();
    }
  } catch {
    say(document.body.dataset.away, true);
  } finally {
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
  if (!form.hasAttribute("data-live")) return;
  event.preventDefault();
  send(form, event.submitter).finally(() => pressed.delete(form));
});

/* The browser may show a cached page again: its forms can be sent again. */
window.addEventListener("pageshow", () => {
  pressed = new WeakSet();
});

window.addEventListener("popstate", () => location.reload());
