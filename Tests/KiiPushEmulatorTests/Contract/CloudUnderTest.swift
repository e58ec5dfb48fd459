import KiiPushCore
import KiiPushEmulator

/// A cloud that answers the contract's requests: in memory, or a running emulator.
protocol CloudUnderTest: Sendable {
    var appID: String { get }
    var appKey: String { get }
    var clientID: String { get }
    var clientSecret: String { get }

    func send(_ request: IncomingRequest) async throws -> CloudAnswer
}

struct CloudAnswer: Sendable {
    var response: HTTPResponse
    /// The writes and publications that the request asks for; `nil` from a running emulator.
    var effects: EmulatedCloud.Effects?

    var status: Int { self.response.status }
    var json: JSONValue { (try? JSONValue(parsing: self.response.body)) ?? .null }
    var code: String? { self.json["errorCode"]?.string }
    var mediaType: String? { self.response.field("Content-Type").map { String($0.prefix { $0 != ";" }) } }
}

struct CloudInMemory: CloudUnderTest {
    private let harness: Locked<CloudHarness>
    private let app: AppIdentity

    init() {
        let harness = CloudHarness()
        self.app = harness.app
        self.harness = Locked(harness)
    }

    var appID: String { self.app.appID }
    var appKey: String { self.app.appKey.reveal() }
    var clientID: String { self.app.clientID }
    var clientSecret: String { self.app.clientSecret.reveal() }

    func send(_ request: IncomingRequest) async throws -> CloudAnswer {
        let reply = self.harness.withLock { harness in
            let reply = harness.cloud.respond(to: request, now: harness.now)
            harness.cloud.commit(reply.effects)
            return reply
        }
        guard let response = reply.response else { throw RawHTTP.Failure(what: "closed without an answer") }
        return CloudAnswer(response: response, effects: reply.effects)
    }
}

struct CloudOverHTTP: CloudUnderTest {
    let client: EmulatorClient

    var appID: String { self.client.emulator.appID }
    var appKey: String { self.client.emulator.appKey.reveal() }
    var clientID: String { self.client.emulator.adminClientID }
    var clientSecret: String { self.client.emulator.adminClientSecret.reveal() }

    func send(_ request: IncomingRequest) async throws -> CloudAnswer {
        let fields = request.fields.map { "\($0.name): \($0.value)" }
        let text = RawHTTP.request(
            request.method,
            request.target,
            fields,
            request.body.isEmpty && request.method == "GET" ? nil : String(decoding: request.body, as: UTF8.self)
        )
        let answer = try await RawHTTP.exchange(port: self.client.port, text)
        let response = HTTPResponse(status: answer.status, fields: answer.fields, body: answer.body)
        return CloudAnswer(response: response, effects: nil)
    }
}
