import { call } from "./api.js";
import { attempt, say, tell } from "./dom.js";

/** Calls `changed` after each change of the faults. */
export function startFaulting(changed) {
  const fault = document.getElementById("fault");
  const script = document.getElementById("script");

  async function post(form, body, done) {
    tell(form.elements.problem, "");
    try {
      await call("POST", "/__kii/faults", JSON.stringify(body));
      say(done);
      changed();
    } catch (error) {
      tell(form.elements.problem, error.message);
    }
  }

  fault.addEventListener("submit", (event) => {
    event.preventDefault();
    const { method, path, status, times, delay, disconnect } = fault.elements;
    const body = { path: path.value, ...(disconnect.checked && { disconnect: true }) };
    if (method.value) body.method = method.value;
    for (const field of [status, times, delay]) if (field.value) body[field.name] = field.valueAsNumber;
    post(fault, body, "Fault added.");
  });
  script.addEventListener("submit", (event) => {
    event.preventDefault();
    post(script, { script: script.elements.text.value }, "The script runs.");
  });
  document.getElementById("unfault").addEventListener("click", () =>
    attempt(async () => {
      await call("DELETE", "/__kii/faults");
      say("No faults any more.");
      changed();
    }),
  );
}
