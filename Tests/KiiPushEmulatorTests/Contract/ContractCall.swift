import Contract
import KiiPushCore
import KiiPushEmulator

/// A request of a scenario as a call of ``KiiClient``, whatever the library thinks of it.
struct ContractCall: KiiEndpoint {
    private let request: ContractRequest
    private let target: String
    let method: HTTPMethod

    /// `nil` when the client cannot send it: an odd method, or fields of its own.
    init?(_ request: ContractRequest, to cloud: some CloudUnderTest) {
        guard let method = HTTPMethod(rawValue: request.variant.endpoint.method), request.fields.isEmpty else {
            return nil
        }
        let incoming = request.incoming(to: cloud)
        self.request = request
        self.method = method
        self.target = incoming.target
        self.body =
            if let mediaType = request.mediaType, !incoming.body.isEmpty {
                .bytes(incoming.body, mediaType: mediaType)
            } else {
                method == .get ? .none : .empty
            }
    }

    let body: KiiBody
    var successStatuses: Set<Int> { [200, 201, 202, 204] }

    var authorization: KiiAuthorization {
        switch self.request.credentials {
        case .none, .app: .none
        case .token, .administrator: .token
        }
    }

    /// The token of the call; an administrator's where the scenario has its name and secret.
    var token: Secret? {
        switch self.request.credentials {
        case .none, .app: nil
        case .token(let token): Secret(token)
        case .administrator: Secret(self.request.people.admin)
        }
    }

    var query: [KiiQueryItem] {
        self.target.split(separator: "?").dropFirst().flatMap { $0.split(separator: "&") }.map { pair in
            let words = pair.split(separator: "=", maxSplits: 1).map { String($0) }
            return KiiQueryItem(words[0], words.count == 2 ? words[1] : "")
        }
    }

    func path(in app: KiiApp) -> KiiPath {
        self.target.prefix { $0 != "?" }.split(separator: "/").reduce(.root) { $0.appending(String($1)) }
    }

    func decode(_ response: KiiResponse) throws(KiiResponseError) {}
}
