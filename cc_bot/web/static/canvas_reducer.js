/* A canvas and a command go in, the next canvas comes out: the mirror of `reduce` in cc_bot/domain/canvas.py.
 *
 * What the server sends was cleaned and measured there, so that only ids and modes are looked at here. A command
 * that can't be carried out leaves the state as it is: the very same object comes back.
 *
 * A public command sees, names and changes public elements only. What a private one draws or changes is private
 * from then on. `clear` takes everything down. `html` is what the server made of an element, and only carried.
 */

const MAX_ELEMENTS = 10;
const MAX_ID = 32;

/* Letters that fold to ASCII in Python's casefold, and stay as they are in toLowerCase. */
const FOLDED = {
  "\u00df": "ss", "\u1e9e": "ss", "\u0149": "\u02bcn", "\u017f": "s", "\u01f0": "j\u030c", "\u1e96": "h\u0331",
  "\u1e97": "t\u0308", "\u1e98": "w\u030a", "\u1e99": "y\u030a", "\u1e9a": "a\u02be", "\ufb00": "ff",
  "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "\ufb05": "st", "\ufb06": "st",
};

const ADDED = { canvas_add_card: "card", canvas_show_text: "text", canvas_add_chart: "chart" };

export const EMPTY = Object.freeze({ elements: [], mode: "list", focus: "", revision: null, filling: false });

/* The state after a message of the server: `from` is the revision that its commands change, null where they
 * begin with nothing. Null where a message between is missing. */
export function receive(state, message) {
  if (message.from !== null && message.from !== state.revision) return null;
  return message.commands.reduce(reduce, message.from === null ? { ...state, filling: true } : state);
}

export function reduce(state, command) {
  switch (command.command) {
    case "canvas_add_card":
    case "canvas_show_text":
    case "canvas_add_chart":
      return add(state, command);
    case "canvas_update_card":
      return update(state, command);
    case "canvas_remove_element":
      return remove(state, command);
    case "canvas_set_mode":
      return layOut(state, command);
    case "canvas_shown":
      return { ...state, revision: command.revision, filling: false };
    default:
      return state;
  }
}

function add(state, command) {
  if (!state.filling && seen(state, command.visibility).length >= MAX_ELEMENTS) return state;
  const type = ADDED[command.command];
  const element = { type, id: free(state, command.id ?? "", type), title: command.title ?? "" };
  if (type === "chart") {
    Object.assign(element, { kind: command.kind, labels: command.labels, series: command.series });
  } else {
    element.content = command.content;
  }
  element.visibility = command.visibility;
  if (command.html !== undefined) element.html = command.html;
  return { ...state, elements: [...state.elements, element] };
}

function update(state, command) {
  const { title = null, content = null } = command;
  const old = find(state, command.id, command.visibility);
  if (!old || (title === null && content === null)) return state;
  if (content !== null && old.type === "chart") return state;
  if (title === "" && old.type !== "text") return state;
  const changed = { ...old, visibility: command.visibility };
  if (title !== null) changed.title = title;
  if (content !== null) changed.content = content;
  delete changed.html;
  const html = command.html ?? (content === null ? old.html : undefined);
  if (html !== undefined) changed.html = html;
  return { ...state, elements: state.elements.map((each) => (each === old ? changed : each)) };
}

function remove(state, command) {
  const gone = find(state, command.id, command.visibility);
  if (!gone) return state;
  const left = { ...state, elements: state.elements.filter((each) => each !== gone) };
  return state.focus === gone.id ? { ...left, mode: "list", focus: "" } : left;
}

function layOut(state, command) {
  switch (command.mode) {
    case "clear":
      return { ...state, elements: [], mode: "list", focus: "" };
    case "focus": {
      const shown = find(state, command.focus ?? "", command.visibility);
      return shown ? { ...state, mode: "focus", focus: shown.id } : state;
    }
    case "list":
    case "board":
      return { ...state, mode: command.mode, focus: "" };
    default:
      return state;
  }
}

function seen(state, visibility) {
  return state.elements.filter((each) => visibility === "private" || each.visibility === "public");
}

/* The element of this id, as loosely as models write one. */
function find(state, id, visibility) {
  const elements = seen(state, visibility);
  return elements.find((each) => each.id === id) ?? elements.find((each) => each.id === plain(id));
}

/* The wanted id, or with a number where that is taken, be it by what the command does not see; without one it is
 * made from the kind. */
function free(state, wanted, kind) {
  const taken = new Set(state.elements.map((each) => each.id));
  const base = plain(wanted);
  if (base && !taken.has(base)) return base;
  for (let number = base ? 2 : 1; ; number += 1) {
    const end = `-${number}`;
    const made = (base || kind).slice(0, MAX_ID - end.length) + end;
    if (!taken.has(made)) return made;
  }
}

function plain(wanted) {
  const folded = Array.from(wanted, (letter) => FOLDED[letter] ?? letter.toLowerCase()).join("");
  return strip(strip(folded.replace(/[^a-z0-9]+/g, "-").slice(0, MAX_ID + 1)).slice(0, MAX_ID));
}

function strip(id) {
  return id.replace(/^-+|-+$/g, "");
}
