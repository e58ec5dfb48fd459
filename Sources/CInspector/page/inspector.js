const events = new EventSource("/__kii/events");
for (const kind of ["request", "connection", "delivery"]) {
  events.addEventListener(kind, (event) => console.log(event.data));
}
