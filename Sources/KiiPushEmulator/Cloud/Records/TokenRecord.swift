import KiiPushCore

/// An access token and who holds it.
struct TokenRecord: StoredRecord {
    static let table = "token"

    var token: Secret
    var caller: Caller
    /// `nil` for a token that lives for ever.
    var expiresAt: Timestamp?
    /// `nil` where Kii gives none: pseudo users, registered things, admin and anonymous tokens.
    var refreshToken: Secret?

    var key: String { self.token.reveal() }

    var json: JSONValue {
        .compact([
            ("token", JSONValue(self.token.reveal())), ("caller", JSONValue(self.caller.text)),
            ("expiresAt", self.expiresAt.map { JSONValue($0.millisecondsSinceEpoch) } ?? .null),
            ("refreshToken", .optional(self.refreshToken?.reveal())),
        ])
    }

    init(token: Secret, caller: Caller, expiresAt: Timestamp?, refreshToken: Secret?) {
        self.token = token
        self.caller = caller
        self.expiresAt = expiresAt
        self.refreshToken = refreshToken
    }

    init?(json: JSONValue) {
        guard let token = json["token"]?.string, let caller = json["caller"]?.string.flatMap({ Caller(text: $0) })
        else { return nil }
        self.init(
            token: Secret(token),
            caller: caller,
            expiresAt: json["expiresAt"]?.int64.map { Timestamp(millisecondsSinceEpoch: $0) },
            refreshToken: json["refreshToken"]?.string.map { Secret($0) }
        )
    }
}
