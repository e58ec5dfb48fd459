import KiiPushCore

struct EmulatorState: Sendable {
    static let table = "emulator"

    /// The ports of an earlier start; 0 for none. The emulator prefers these ports, so that endpoints that clients have
    /// stored stay valid.
    struct Ports: Sendable, Hashable {
        var http: UInt16 = 0
        var https: UInt16 = 0
        var broker = BrokerPorts(tcp: 0, tls: 0)

        var baseURL: String { "http://127.0.0.1:\(self.http)/api" }
        var inspectorURL: String { "http://127.0.0.1:\(self.http)/__kii/ui" }
        var httpsBaseURL: String? { self.https == 0 ? nil : "https://127.0.0.1:\(self.https)/api" }
    }

    let cloud: CloudState
    let app: AppIdentity
    let ports: Ports

    init(store: StateStore) throws(EmulatorError) {
        var (app, ports, cloud) = (AppIdentity?.none, Ports(), CloudState())
        for (table, key, value) in try store.rows() {
            switch (table, key) {
            case (EmulatorState.table, "app"):
                app = AppIdentity(json: value)
                guard app != nil else { throw EmulatorError(.stateUnusable, "the stored app is damaged") }
            case (EmulatorState.table, "ports"): ports = Ports(json: value)
            default:
                guard cloud.load(table: table, value: value) else {
                    throw EmulatorError(.stateUnusable, "the stored \(table) \(key) is damaged")
                }
            }
        }
        var identifiers = Identifiers()
        (self.cloud, self.ports) = (cloud, ports)
        self.app = app ?? AppIdentity(identifiers: &identifiers)
        if app == nil { try store.apply([.save(table: EmulatorState.table, key: "app", value: self.app.json)]) }
    }

    static func save(_ ports: Ports, in store: StateStore) throws(EmulatorError) {
        try store.apply([.save(table: EmulatorState.table, key: "ports", value: ports.json)])
    }
}

extension EmulatorState.Ports {
    var json: JSONValue {
        .object(present: [
            "http": Int(self.http), "https": Int(self.https), "mqtt": Int(self.broker.tcp),
            "mqttTLS": Int(self.broker.tls), "ws": Int(self.broker.webSocket), "wss": Int(self.broker.webSocketTLS),
        ])
    }

    init(json: JSONValue) {
        func port(_ name: String) -> UInt16 { json.integer(name) ?? 0 }
        let broker = BrokerPorts(
            tcp: port("mqtt"), tls: port("mqttTLS"), webSocket: port("ws"), webSocketTLS: port("wss"))
        self.init(http: port("http"), https: port("https"), broker: broker)
    }
}
