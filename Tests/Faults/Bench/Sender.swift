import KiiPushCore
import KiiPushEmulator
import TestSupport

struct Sender: Sendable {
    private static let requestsAtOnce = 16

    private let client: KiiClient
    private let userID: String
    private let token: Secret

    init(emulator: Emulator, userID: String) async throws {
        self.client = KiiClient(
            app: emulator.app, transport: try EventLoop.patient(), timeout: .seconds(600))
        self.userID = userID
        self.token = try await emulator.adminToken(self.client)
    }

    /// Sends a push for each number, and returns the numbers of the successful requests, whose messages the broker has
    /// acknowledged.
    func send(_ numbers: some Sequence<Int> & Sendable) async throws -> Set<Int> {
        try await withThrowingTaskGroup(of: Int?.self) { group in
            var accepted: Set<Int> = []
            for (index, number) in numbers.enumerated() {
                if index >= Sender.requestsAtOnce, let sent = try await group.next() ?? nil { accepted.insert(sent) }
                group.addTask { await self.isAccepted(number) ? number : nil }
            }
            for try await case let sent? in group { accepted.insert(sent) }
            return accepted
        }
    }

    /// Sends one push. The cloud answers 503 while the broker is down; it then has promised nothing.
    private func isAccepted(_ number: Int) async -> Bool {
        let message = PushMessage(data: ["n": JSONValue(number)])
        return (try? await self.client.session(self.token).send(message, to: .user(self.userID))) != nil
    }
}
