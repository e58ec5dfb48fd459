"""A page of somebody else's that receives in a browser: MQTT over WebSocket."""
import base64
import http.server
import json
import threading
import urllib.request

from inspector import PATIENCE, SEND, InspectorCase

# MQTT 3.1.1 for a receiver. `told` lists the events in order.
RECEIVER = """
const { host, portWS, mqttTopic, username, password } = arguments[0];
const told = (window.told = []);
const text = (value) => {
  const bytes = new TextEncoder().encode(value);
  return [bytes.length >> 8, bytes.length & 255, ...bytes];
};
const packet = (first, body) => {
  const length = [];
  for (let left = body.length; length.length === 0 || left > 0; left >>= 7) {
    length.push((left & 127) | (left > 127 ? 128 : 0));
  }
  return Uint8Array.of(first, ...length, ...body);
};
const socket = new WebSocket(`ws://${host}:${portWS}${arguments[1]}`, arguments[2]);
socket.binaryType = "arraybuffer";
socket.onopen = () => {
  const login = [...text(mqttTopic), ...text(username), ...text(password)];
  socket.send(packet(0x10, [...text("MQTT"), 4, 0xc2, 0, 60, ...login]));
};
socket.onmessage = ({ data }) => {
  const bytes = [...new Uint8Array(data)];
  const type = bytes.shift() >> 4;
  while (bytes.shift() & 128);
  if (type === 2) socket.send(packet(0x82, [0, 1, ...text(mqttTopic), 1]));
  if (type === 9) told.push("subscribed");
  if (type !== 3) return;
  bytes.splice(0, 2 + bytes[0] * 256 + bytes[1]);
  socket.send(packet(0x40, bytes.splice(0, 2)));
  told.push(new TextDecoder().decode(Uint8Array.from(bytes)));
};
socket.onclose = ({ code }) => told.push(`closed ${code}`);
"""


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = b"<!doctype html><title>receiver</title><link rel=icon href=data:,>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class WebSocketTests(InspectorCase):
    def setUp(self):
        super().setUp()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.page = f"http://127.0.0.1:{server.server_address[1]}/"

    def ask(self, method, path, authorization, kind=None, body=None):
        fields = {"Authorization": authorization}
        if kind:
            fields["Content-Type"] = f"application/vnd.kii.{kind}+json"
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(f"{self.address}{self.root}/{path}", data, fields, method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE) as response:
            return json.load(response)

    def register(self):
        """A user's ID and the endpoint of an installation."""
        key = base64.b64encode(f"{self.app['appID']}:{self.app['appKey']}".encode()).decode()
        user = self.ask("POST", "users", f"Basic {key}", "RegistrationAndAuthorizationRequest", {})
        token = f"Bearer {user['_accessToken']}"
        made = self.ask("POST", "installations", token, "InstallationCreationRequest", {"deviceType": "MQTT"})
        return user["userID"], self.ask("GET", f"installations/{made['installationID']}/mqtt-endpoint", token)

    def told(self):
        return self.js("return window.told")

    def test_a_page_of_another_site_receives(self):
        user, endpoint = self.register()
        self.driver.get(self.page)
        self.js(RECEIVER, endpoint, "/mqtt", "mqtt")
        self.until(lambda: self.told() == ["subscribed"], "the page is subscribed")
        body = {"data": {"msg": "boiler 3"}, "mqtt": {"enabled": True}}
        self.assertEqual(self.call("POST", f"{self.root}/users/{user}/push/messages", body, SEND)[0], 200)
        self.until(lambda: len(self.told()) == 2, "the push is there")
        self.assertEqual(json.loads(self.told()[1])["msg"], "boiler 3")
        self.open()
        self.row("online", "ws")

    def test_what_is_refused_is_seen_at_the_page(self):
        self.expects_network_errors = True
        _, endpoint = self.register()
        for path, subprotocol in (("/other", "mqtt"), ("/mqtt", "chat")):
            self.driver.get(self.page)
            self.js(RECEIVER, endpoint, path, subprotocol)
            self.until(lambda: self.told() == ["closed 1006"], "the browser gives up")
        self.open()
        self.row("websocket", "404", "/mqtt", "ws")
        self.row("websocket", "400", "subprotocol mqtt")
