/* Adds a copy button to each block of code. */
const talk = document.querySelector(".talk");
for (const code of navigator.clipboard ? talk.querySelectorAll("pre") : []) {
  const button = Object.assign(document.createElement("button"), { type: "button", className: "quiet copy" });
  button.textContent = talk.dataset.copy;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = talk.dataset.copied;
  });
  const box = Object.assign(document.createElement("div"), { className: "code" });
  code.replaceWith(box);
  box.append(code, button);
}
