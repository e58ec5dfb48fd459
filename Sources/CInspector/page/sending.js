import { ask, call, destinationOf, pathOf, sendOf, sendType } from "./api.js";
import { attempt, button, el, say, tell } from "./dom.js";
import { compact, member, pretty, problem } from "./json.js";

const dialog = document.getElementById("sending");
const form = document.getElementById("message");
const fields = form.elements;

async function post(path, body) {
  const { pushMessageID } = JSON.parse(await call("POST", path, body, sendType));
  say("Sent.");
  location.hash = `#message/${encodeURIComponent(pushMessageID)}`;
}

function check() {
  const found = problem(fields.json.value, fields.whole.checked);
  tell(fields.problem, found ?? "");
  fields.json.setAttribute("aria-invalid", String(found !== null));
  return found === null;
}

async function openForm(target, body) {
  if (target) [fields.kind.value, fields.name.value] = [target.kind, target.name];
  if (body) {
    // The form shows the data only if submitting the form adds all other members of the message.
    const data = member(body, "data");
    const plain = data && compact(body) === `{"data":${data},"mqtt":{"enabled":true}}`;
    fields.whole.checked = !plain;
    fields.json.value = pretty(plain ? data : body);
  }
  check();
  dialog.showModal();
  await attempt(async () => {
    const { topics } = await ask("topics");
    document.getElementById("topics").replaceChildren(...topics.map((topic) => el("option", { value: nameOf(topic) })));
  });
}

/** A name as in kii-push: `alerts` or `user:ID/todo`. */
export function nameOf({ topicID, bucketID, objectScope }) {
  const owner = ["user", "group", "thing"].find((kind) => `${kind}ID` in objectScope);
  return (owner ? `${owner}:${objectScope[`${owner}ID`]}/` : "") + (topicID ?? bucketID);
}

export function sendButtons(request) {
  const again = (action) => () => attempt(() => action(sendOf(request())));
  return [
    button("Resend", again(({ target, body }) => post(target, body))),
    button("Edit & send…", again(({ target, body }) => openForm(destinationOf(target), body))),
  ];
}

export const sendTo = (name) => openForm({ kind: "topic", name });

export function startSending(log) {
  document.getElementById("send").addEventListener("click", () => openForm());
  document.getElementById("unsend").addEventListener("click", () => dialog.close());
  form.addEventListener("input", check);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!check()) return fields.json.focus();
    const target = { kind: fields.kind.value, name: fields.name.value.trim() };
    if (!target.name) return fields.name.focus();
    const text = fields.json.value;
    try {
      await post(pathOf(target, log.root), fields.whole.checked ? text : `{"data":${text},"mqtt":{"enabled":true}}`);
      dialog.close();
    } catch (error) {
      tell(fields.problem, error.message);
    }
  });
}
