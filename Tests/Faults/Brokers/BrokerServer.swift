import Foundation
import KiiPushCore
package import TestSupport

/// A separate broker on the loopback interface, which can be killed and restarted with its stored state.
package final class BrokerServer: Sendable {
    private static let patience: Duration = .seconds(120)

    package let kind: BrokerKind
    package var port: UInt16 { self.place.port }
    private let place: BrokerProgram.Place
    private let process: ReceiverProcess

    /// Runs `body` with a broker that accepts connections. Then ends the broker and removes its files.
    package static func with<Result>(
        _ kind: BrokerKind, _ body: (BrokerServer) async throws -> Result
    ) async throws -> Result {
        try await withTemporaryDirectory { directory in
            let server = try await BrokerServer.start(kind, in: directory)
            do {
                let result = try await body(server)
                await server.kill()
                return result
            } catch {
                await server.kill()
                throw error
            }
        }
    }

    private static func start(_ kind: BrokerKind, in directory: String) async throws -> BrokerServer {
        var attempt = 1
        while true {
            let server = try BrokerServer(kind, directory: "\(directory)/\(attempt)")
            do {
                try await server.start()
                return server
            } catch {
                await server.kill()
                // Another process may have taken one of the ports meanwhile.
                guard attempt < 3 else { throw error }
                attempt += 1
            }
        }
    }

    private init(_ kind: BrokerKind, directory: String) throws {
        try PrivateFile.makeDirectory(directory)
        let ports = try FreePorts.find(3)
        let place = BrokerProgram.Place(
            directory: directory, port: ports[0], otherPorts: Array(ports[1...]), username: "kii",
            password: Secret(UUID().uuidString))
        let program = BrokerProgram.program(of: kind, at: place)
        for (name, text) in program.files {
            try PrivateFile.replace("\(directory)/\(name)", with: Array(text.utf8))
        }
        self.kind = kind
        self.place = place
        self.process = ReceiverProcess(
            program: program.arguments[0], arguments: Array(program.arguments[1...]),
            environment: program.environment, output: "\(directory)/output")
    }

    /// Starts the broker, also after a kill. Returns when it accepts connections.
    package func start() async throws {
        try self.process.start()
        let deadline = MonotonicInstant.now() + BrokerServer.patience
        while true {
            do {
                try await onThread { try self.client("kii-start", cleanSession: true).disconnect() }
                return
            } catch {
                guard self.process.isRunning, MonotonicInstant.now() < deadline else {
                    throw TestFailure("\(self.kind.title) did not start (\(error)): \(self.process.lastWords)")
                }
            }
            // The broker gives no signal before it listens.
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Ends the broker with SIGKILL, and waits for its end.
    package func kill() async { await self.process.kill() }

    /// Ends the broker with SIGKILL, from any thread and without waiting for its end.
    package func signalKill() { self.process.signalKill() }

    package func client(_ clientID: String, cleanSession: Bool) throws -> PlainClient {
        try PlainClient(
            port: self.place.port, clientID: clientID, cleanSession: cleanSession, username: self.place.username,
            password: self.place.password)
    }

    /// The endpoint that leads an agent to this broker through a proxy.
    func endpoint(topic: String, port: UInt16) -> MQTTEndpoint {
        MQTTEndpoint(
            installationID: UUID().uuidString, host: "127.0.0.1", portTCP: port, portSSL: nil, mqttTopic: topic,
            username: self.place.username, password: self.place.password)
    }
}
