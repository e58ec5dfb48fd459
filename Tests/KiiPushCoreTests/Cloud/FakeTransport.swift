import KiiPushCore
import Testing

final class FakeTransport: HTTPTransport {
    private struct State {
        var answers: [Result<HTTPResponse, TransportError>]
        var requests: [HTTPRequest] = []
    }

    private let state: Locked<State>

    init(_ answers: [Result<HTTPResponse, TransportError>]) {
        self.state = Locked(State(answers: answers))
    }

    convenience init(_ answers: [HTTPResponse]) {
        self.init(answers.map { .success($0) })
    }

    convenience init(_ answers: HTTPResponse...) {
        self.init(answers)
    }

    var requests: [HTTPRequest] { self.state.withLock { $0.requests } }

    func perform(_ request: HTTPRequest) async throws -> HTTPResponse {
        let answer = self.state.withLock { state -> Result<HTTPResponse, TransportError>? in
            state.requests.append(request)
            return state.answers.isEmpty ? nil : state.answers.removeFirst()
        }
        guard let answer else { throw TransportError(.connectionLost, detail: "the test has no further answer") }
        return try answer.get()
    }
}

extension HTTPResponse {
    static func status(_ status: Int, _ body: String = "", fields: [HTTPField] = []) -> HTTPResponse {
        HTTPResponse(status: status, fields: fields, body: Array(body.utf8))
    }

    static func refusal(_ status: Int, _ code: String) -> HTTPResponse {
        .status(status, #"{"errorCode":"\#(code)","message":"m"}"#)
    }
}

let testApp = KiiApp(appID: "a1", appKey: "k-secret", baseURL: "https://cloud.test/api")
let testToken: Secret = "t-secret"
let testNow = Timestamp(millisecondsSinceEpoch: 1_000_000_000_000)  // 2001-09-09T01:46:40Z

extension KiiClient {
    init(_ transport: FakeTransport, app: KiiApp = testApp) {
        self.init(app: app, transport: transport, retry: .none, now: { testNow })
    }
}

func exchange<Output>(
    _ answers: HTTPResponse...,
    app: KiiApp = testApp,
    body: (KiiClient) async throws -> Output
) async -> (requests: [HTTPRequest], result: Result<Output, any Error>) {
    let transport = FakeTransport(answers)
    let client = KiiClient(transport, app: app)
    do {
        let output = try await body(client)
        return (transport.requests, .success(output))
    } catch {
        return (transport.requests, .failure(error))
    }
}
