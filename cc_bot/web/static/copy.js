/* Adds copy buttons to answers and to blocks of code. */
const talk = document.querySelector(".talk");
const DONE_MS = 2000;

function copyButton(text) {
  const button = Object.assign(document.createElement("button"), { type: "button", className: "quiet copy" });
  button.textContent = talk.dataset.copy;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    button.textContent = talk.dataset.copied;
    setTimeout(() => (button.textContent = talk.dataset.copy), DONE_MS);
  });
  return button;
}

for (const answer of navigator.clipboard ? talk.querySelectorAll(".said:not(.mine)") : []) {
  const text = answer.querySelector(".prose")?.innerText;
  if (text) answer.querySelector("header").append(copyButton(text));
}
for (const pre of navigator.clipboard ? talk.querySelectorAll("pre") : []) {
  const box = Object.assign(document.createElement("div"), { className: "code" });
  box.dataset.language = pre.firstElementChild?.className.replace("language-", "") ?? "";
  pre.replaceWith(box);
  box.append(copyButton(pre.textContent), pre);
}
