import KiiPushCore
import KiiPushEmulator
import TestSupport
import TestTraits
import Testing

@Suite(.ownThreads) struct WebSocketPeerTests {
    /// An independent WebSocket server: the Python package `websockets`. It passes the bytes on to the port in its
    /// argument, and prints its own port.
    private static let relay = """
        import asyncio, sys, websockets

        async def serve(client):
            reader, writer = await asyncio.open_connection("127.0.0.1", int(sys.argv[1]))

            async def bring():
                while data := await reader.read(65536):
                    await client.send(data)
                await client.close()

            bringing = asyncio.create_task(bring())
            try:
                async for data in client:
                    writer.write(data)
            finally:
                writer.close()
                bringing.cancel()

        async def main():
            async with websockets.serve(serve, "127.0.0.1", 0, subprotocols=["mqtt"]) as server:
                print(server.sockets[0].getsockname()[1], flush=True)
                await asyncio.Future()

        asyncio.run(main())
        """

    @Test(arguments: [false, true]) func anAgentReceivesThroughTheEmulator(tls: Bool) async throws {
        try await withEmulator { emulator, directory in
            try await Self.receive(emulator, directory, tls: tls) { _ in }
        }
    }

    @Test func anAgentReceivesThroughAnotherServer() async throws {
        try await withEmulator { emulator, directory in
            let words = ["/usr/bin/python3", "-c", Self.relay, "\(emulator.mqttPort)"]
            try await ForeignProgram(words).whileRunning { lines in
                var iterator = lines.makeAsyncIterator()
                let port = try #require(await iterator.next().flatMap { Int($0) })
                try await Self.receive(emulator, directory, tls: false) { file in
                    try Self.setPort(port, in: file)
                }
            }
        }
    }

    /// Runs an agent that receives a push over WebSocket.
    ///
    /// - Parameter prepare: changes the agent's state file after the registration.
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

    private static func setPort(_ port: Int, in file: String) throws {
        let state = try JSONValue(parsing: try #require(try PrivateFile.read(file)))
        var members = (state.members ?? []).filter { $0.key != "endpoint" }.map { ($0.key, $0.value) }
        var endpoint = (state["endpoint"]?.members ?? []).filter { $0.key != "portWS" }.map { ($0.key, $0.value) }
        endpoint.append(("portWS", JSONValue(port)))
        members.append(("endpoint", .object(endpoint)))
        try PrivateFile.replace(file, with: JSONValue.object(members).serialized())
    }
}
