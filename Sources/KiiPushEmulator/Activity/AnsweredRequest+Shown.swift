package import KiiPushCore

/// What may be shown of a request: everything but secrets.
extension AnsweredRequest {
    /// Path and query. Where a client put credentials into them, they are hidden.
    package var shownTarget: String {
        let target = self.target.withoutCredentials
        guard let mark = target.firstIndex(of: "?") else { return target }
        let items = target[target.index(after: mark)...].split(separator: "&", omittingEmptySubsequences: false).map {
            item in
            let name = item.prefix { $0 != "=" }
            return JSONValue.isSecret(String(name)) ? name + "=<redacted>" : item
        }
        return target[...mark] + items.joined(separator: "&")
    }

    /// What the request's body says; `nil` without one.
    package var shownBody: JSONValue? {
        let path = (try? RequestTarget(parsing: self.target))?.path ?? []
        return AnsweredRequest.shown(self.body, isSend: path.suffix(2) == ["push", "messages"])
    }

    /// What the answer's body says; `nil` without one.
    package var shownAnswer: JSONValue? { AnsweredRequest.shown(self.answer, isSend: false) }

    /// The object or array that `body` is. Anything else, such as a form, may hold a secret anywhere, and is only counted.
    ///
    /// - Parameter isSend: whether it is a push message, whose data is the sender's and has no secrets of the cloud's.
    private static func shown(_ body: [UInt8], isSend: Bool) -> JSONValue? {
        guard !body.isEmpty else { return nil }
        // Cut, it is no JSON any more, in which secrets could be found.
        guard body.count < AnsweredRequest.maximumBodyBytes else {
            return JSONValue("<a body of \(body.count) bytes or more>")
        }
        let value = try? JSONValue(parsing: body)
        guard let value, value.kind == .object || value.kind == .array else {
            return JSONValue("<\(body.count) bytes that are no JSON>")
        }
        return isSend ? value : value.withoutSecrets
    }
}

extension JSONValue {
    /// The members that hold a secret in the requests and answers of Kii's cloud, in small letters.
    private static let secrets: Set<String> = [
        "password", "_password", "thingpassword", "newpassword", "oldpassword", "client_secret", "access_token",
        "refresh_token", "accesstoken", "_accesstoken", "_refreshtoken", "code",
    ]

    fileprivate static func isSecret(_ name: String) -> Bool { self.secrets.contains(name.lowercased()) }

    fileprivate var withoutSecrets: JSONValue {
        if let elements = self.array { return JSONValue(elements.map { $0.withoutSecrets }) }
        guard self.kind == .object else { return self }
        return .object(
            self.pairs.map { name, value in (name, JSONValue.isSecret(name) ? "<redacted>" : value.withoutSecrets) })
    }
}
