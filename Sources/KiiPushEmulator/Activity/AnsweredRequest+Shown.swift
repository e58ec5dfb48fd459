package import KiiPushCore

extension AnsweredRequest {
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

    package var shownBody: JSONValue? {
        let path = (try? RequestTarget(parsing: self.target))?.path ?? []
        return AnsweredRequest.shown(self.body, isSend: path.suffix(2) == ["push", "messages"])
    }

    package var shownAnswer: JSONValue? { AnsweredRequest.shown(self.answer, isSend: false) }

    /// The object or array in `body`: whole for a request that sends a push, otherwise without secrets. Any other
    /// content, such as a form, may contain secrets anywhere, so only its size is shown.
    private static func shown(_ body: [UInt8], isSend: Bool) -> JSONValue? {
        guard !body.isEmpty else { return nil }
        // A body of this size may be truncated, and secrets cannot be found in truncated JSON.
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
    /// Names of JSON members and query items with secrets, in lower case.
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
