import Foundation
import KiiPushCore
import KiiPushEmulator
import TestSupport
import TestTraits
import Testing

/// Agents over WebSocket to a real mosquitto: through the emulator, and through a server that nobody here wrote.
@Suite(.ownThreads) struct WebSocketPeerTests {
    /// node's ws, which takes the WebSocket and hands its bytes to the port that it is given. It says its own.
    private static let relay = """
        const net = require("net");
        const { WebSocketServer } = require("ws");
        const handleProtocols = (all) => all.has("mqtt") && "mqtt";
        const server = new WebSocketServer({ host: "127.0.0.1", port: 0, path: "/mqtt", handleProtocols });
        server.on("listening", () => console.log(server.address().port));
        server.on("connection", (client) => {
          const broker = net.connect(Number(process.argv[1]), "127.0.0.1");
          client.on("message", (data) => broker.write(data));
          client.on("close", () => broker.end());
          broker.on("data", (data) => client.send(data));
          broker.on("close", () => client.close());
          broker.on("error", () => client.close());
        });
        """

    @Test(arguments: [false, true]) func anAgentReceivesThroughTheEmulator(tls: Bool) async throws {
        try await withEmulator { emulator, directory in
            try await Self.receive(emulator, directory, tls: tls) { _ in }
        }
    }

    @Test func anAgentReceivesThroughAnotherServer() async throws {
        let environment = ProcessInfo.processInfo.environment.merging(["NODE_PATH": "/usr/share/nodejs"]) { $1 }
        guard try await ForeignProgram(["node", "-e", "require('ws')"], environment: environment).run().status == 0
        else {
            return
        }
        try await withEmulator { emulator, directory in
            let words = ["node", "-e", Self.relay, "\(emulator.mqttPort)"]
            try await ForeignProgram(words, environment: environment).whileRunning { lines in
                var iterator = lines.makeAsyncIterator()
                let port = try #require(await iterator.next().flatMap { Int($0) })
                try await Self.receive(emulator, directory, tls: false) { file in
                    try Self.setPort(port, in: file)
                }
            }
        }
    }

    /// Has an agent receive a push over WebSocket.
    ///
    /// - Parameter prepare: called with the agent's state file once it is registered.
    private static func receive(
        _ emulator: Emulator, _ directory: String, tls: Bool, _ prepare: (String) throws -> Void
    ) async throws {
        let runtime = try emulator.runtime("\(directory)/agent")
        var configuration = PushAgent.Configuration(app: emulator.app, account: .pseudoUser)
        configuration.transport = .webSocket
        configuration.usesTLS = tls
        let handler = RecordingHandler()
        let agent = PushAgent(runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
        let registration = try await agent.register()
        try prepare("\(directory)/agent/agents/default.json")
        let events = agent.events
        try await whileRunning(agent) {
            let connected = await firstEvent(events) { if case .connected = $0 { true } else { false } }
            guard case .connected(let connection) = connected else { throw TestFailure("not connected") }
            #expect(connection.usesTLS == tls)
            let payload = Array(#"{"n":7}"#.utf8)
            #expect(await emulator.publish([payload], on: registration.mqttTopic))
            #expect(await handler.next(1).first?.message.payloadBytes == payload)
        }
        await runtime.shutdown()
    }

    /// Has the endpoint on file name another port for WebSocket.
    private static func setPort(_ port: Int, in file: String) throws {
        let state = try JSONValue(parsing: try #require(try PrivateFile.read(file)))
        var members = (state.members ?? []).filter { $0.key != "endpoint" }.map { ($0.key, $0.value) }
        var endpoint = (state["endpoint"]?.members ?? []).filter { $0.key != "portWS" }.map { ($0.key, $0.value) }
        endpoint.append(("portWS", JSONValue(port)))
        members.append(("endpoint", .object(endpoint)))
        try PrivateFile.replace(file, with: JSONValue.object(members).serialized())
    }
}
