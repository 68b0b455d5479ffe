/* Makes pages live that work without it: a form marked `data-live` is sent in the background, and what the
   page shows of the answer takes its place, so that whoever typed something keeps it when that was refused. */

/* What was written and what is there by now are shown side by side: that is no refusal. */
const CONFLICT = 409;

let pressed = new WeakSet();

const main = () => document.getElementById("content");

/* Tell a sentence at the top of the page. */
export function say(sentence, refused = false) {
  const said = document.getElementById("said");
  if (!said) return;
  said.textContent = sentence;
  said.classList.toggle("trouble", refused);
  said.setAttribute("role", refused ? "alert" : "status");
}

/* Put the content of a page that was fetched in the place of this one's, or only of one part of it. */
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

/* The sentence of a page that tells of trouble. */
export function troubleOf(html) {
  const fetched = new DOMParser().parseFromString(html, "text/html");
  return fetched.querySelector("[role=alert]")?.textContent ?? "";
}

async function send(form, submitter) {
  const data = new FormData(form, submitter);
  const asked = form.getAttribute("method") === "get";
  const own = submitter?.hasAttribute("formaction"); // without one, `formAction` is the page itself
  // By attributes: a field of that name takes the place of a form's own property.
  const address = new URL(own ? submitter.formAction : (form.getAttribute("action") ?? ""), location.href);
  if (asked) address.search = new URLSearchParams(data).toString();
  const multipart = form.getAttribute("enctype") === "multipart/form-data";
  const body = asked ? undefined : multipart ? data : new URLSearchParams(data);
  main().setAttribute("aria-busy", "true");
  say(""); // what an earlier press has done
  try {
    const method = form.getAttribute("method");
    const answer = await fetch(address, { method, body, credentials: "same-origin" });
    const html = await answer.text();
    if (!answer.ok && answer.status !== CONFLICT && troubleOf(html)) {
      say(troubleOf(html), true);
    } else if (show(html)) {
      history.pushState(null, "", answer.url);
      main().focus();
    }
  } catch {
    say(document.body.dataset.away, true);
  } finally {
    main().removeAttribute("aria-busy");
  }
}

/* Whether another form has words that would be gone with the page. */
function isTypedBeside(form) {
  const fields = [...document.querySelectorAll("form[method=post] textarea, form[method=post] input:not([type])")];
  return fields.some((field) => field.form !== form && field.value !== field.defaultValue);
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.getAttribute("method") === "post" && isTypedBeside(form) && !confirm(document.body.dataset.unsaved)) {
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

/* A page that the browser kept and shows again may be pressed again. */
window.addEventListener("pageshow", () => {
  pressed = new WeakSet();
});

window.addEventListener("popstate", () => location.reload());
