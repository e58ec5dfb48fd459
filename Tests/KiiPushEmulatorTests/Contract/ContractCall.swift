import Contract
import KiiPushCore
import KiiPushEmulator

extension ContractRequest {
    /// The request as a call of ``KiiClient``, without the client's own checks. `nil` if the client cannot send the
    /// request, because of its method or its fields.
    func call(to cloud: some CloudUnderTest) -> KiiCall<Void>? {
        guard let method = HTTPMethod(rawValue: self.variant.endpoint.method), self.fields.isEmpty else { return nil }
        let incoming = self.incoming(to: cloud)
        let words = incoming.target.split(separator: "?")
        let path = words[0].split(separator: "/").reduce(KiiPath()) { $0.appending(String($1)) }
        return KiiCall(method, path, statuses: [200, 201, 202, 204]).with { call in
            call.isOfApp = false
            call.authorization = self.token == nil ? .none : .token
            call.query = words.dropFirst().flatMap { $0.split(separator: "&") }.map { pair in
                let words = pair.split(separator: "=", maxSplits: 1).map { String($0) }
                return (words[0], words.count == 2 ? words[1] : "")
            }
            call.body =
                if let mediaType = self.mediaType, !incoming.body.isEmpty {
                    .bytes(incoming.body, mediaType: mediaType)
                } else {
                    method == .get ? .none : .empty
                }
        }
    }

    /// The token of the call. A call with the administrator's name and secret uses the administrator's token.
    var token: Secret? {
        switch self.credentials {
        case .none, .app: nil
        case .token(let token): Secret(token)
        case .administrator: Secret(self.people.admin)
        }
    }
}
