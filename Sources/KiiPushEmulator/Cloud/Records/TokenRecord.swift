import KiiPushCore

struct TokenRecord: StoredRecord {
    static let table = "token"

    var token: Secret
    var caller: Caller
    var expiresAt: Timestamp?
    /// `nil` for pseudo users, for anonymous tokens, for things that register or onboard, and if the app gives no
    /// refresh tokens.
    var refreshToken: Secret?

    var key: String { self.token.reveal() }

    var json: JSONValue {
        .object(present: [
            "token": self.token.reveal(), "caller": self.caller.text, "expiresAt": self.expiresAt?.json,
            "refreshToken": self.refreshToken?.reveal(),
        ])
    }
}

extension TokenRecord {
    init?(json: JSONValue) {
        guard let token = json.secret("token"), let caller = json.caller("caller") else { return nil }
        self.init(
            token: token, caller: caller, expiresAt: json.time("expiresAt"), refreshToken: json.secret("refreshToken"))
    }
}
