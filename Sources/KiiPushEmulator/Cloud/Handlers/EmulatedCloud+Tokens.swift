import KiiPushCore

extension Route {
    static let token = Route("POST", "oauth2/token", need: .nobody, EmulatedCloud.issueToken)
}

extension EmulatedCloud {
    /// Kii's value of `expires_in`, in seconds, for a token without an end.
    static let unlimitedSeconds: Int64 = 2_147_483_647

    func issueToken(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let body =
            call.mediaType == "application/x-www-form-urlencoded"
            ? try self.form(call)
            : try call.object(of: "OauthTokenRequest", others: ["application/x-www-form-urlencoded"])
        let grant = try body.text("grant_type")
        if grant == "refresh_token" {
            try self.require(self.isFromApp(call), call, "Refreshing needs the app's credentials.")
            return try self.refresh(body, call)
        }
        let expiresAt = try self.expiry(body, now: call.now)
        if body["username"] != nil, grant == nil || grant == "password" {
            try self.require(self.isFromApp(call), call, "Login needs the app's credentials.")
            let principal = try self.login(body)
            return self.grantToken(.principal(principal), expiresAt: expiresAt, refreshable: true, now: call.now)
        }
        if body["client_id"] != nil, grant == nil || grant == "client_credentials" {
            let caller = try self.clientLogin(body)
            return self.grantToken(caller, expiresAt: expiresAt, refreshable: caller == .admin, now: call.now)
        }
        throw KiiFailure(400, "OAUTH2_ERROR", "This grant_type is not supported, or its fields are missing.")
    }

    private func isFromApp(_ call: CloudCall) -> Bool {
        call.target.path.starts(with: ["api", "apps"]) || call.field("Authorization") != nil
            || call.field("X-Kii-AppID") == self.appID
    }

    private func form(_ call: CloudCall) throws(KiiFailure) -> JSONValue {
        let query = try RequestTarget(parsing: "/?" + String(decoding: call.request.body, as: UTF8.self)).query
        return .object(
            query.map { name, value in
                let isTime = name == "expiresAt" || name == "expires_at"
                return (name, isTime ? Int64(value).map { JSONValue($0) } ?? JSONValue(value) : JSONValue(value))
            }
        )
    }

    /// `expiresAt` in milliseconds since the epoch. One of Kii's clients sends `expires_at`; another sends a string.
    private func expiry(_ body: JSONValue, now: Timestamp) throws(KiiFailure) -> Timestamp? {
        guard let value = body["expiresAt"] ?? body["expires_at"], !value.isNull else { return nil }
        guard let milliseconds = (value.int64 ?? value.string.flatMap { Int64($0) }),
            milliseconds > now.millisecondsSinceEpoch
        else { throw .invalidInput("expiresAt has to be a time to come, in milliseconds since 1970.") }
        return Timestamp(millisecondsSinceEpoch: milliseconds)
    }

    private func login(_ body: JSONValue) throws(KiiFailure) -> Principal {
        guard let name = body["username"]?.string, let password = body["password"]?.string else {
            throw .invalidInput("username and password have to be strings.")
        }
        let thingPrefix = "VENDOR_THING_ID:"
        let (known, principal): (Secret?, Principal?)
        if name.hasPrefix(thingPrefix) {
            let thing = self.state.thing(vendorThingID: String(name.dropFirst(thingPrefix.count)))
            (known, principal) = (thing?.password, thing.map { .thing($0.id) })
        } else {
            let user = self.user(loggingInAs: name)
            (known, principal) = (user?.password, user.map { .user($0.id) })
        }
        guard let principal, known?.reveal() == password else { throw .invalidGrant }
        try self.checkIsEnabled(.principal(principal))
        return principal
    }

    /// A login name, an e-mail address, a phone number `+81…`, or the forms `EMAIL:…`, `PHONE:+81…` and
    /// `PHONE:{CC}-{local}`.
    private func user(loggingInAs name: String) -> UserRecord? {
        if name.hasPrefix("EMAIL:") { return self.state.user(field: "emailAddress", value: String(name.dropFirst(6))) }
        if name.hasPrefix("PHONE:") {
            let number = String(name.dropFirst(6))
            if let user = self.state.user(field: "phoneNumber", value: number) { return user }
            let parts = number.split(separator: "-", maxSplits: 1).map { String($0) }
            guard parts.count == 2, let user = self.state.user(field: "phoneNumber", value: parts[1]),
                user.attributes["country"]?.string == parts[0]
            else { return nil }
            return user
        }
        return UserRecord.names.lazy.compactMap { self.state.user(field: $0, value: name) }.first
    }

    private func clientLogin(_ body: JSONValue) throws(KiiFailure) -> Caller {
        let app = self.settings.app
        guard let id = body["client_id"]?.string, let secret = body["client_secret"]?.string else {
            throw .invalidInput("client_id and client_secret have to be strings.")
        }
        switch (id, secret) {
        case (app.clientID, app.clientSecret.reveal()): return .admin
        // Kii's cloud does not check the secret here: Kii's C SDK ebisu sends a wrong one before it onboards a thing.
        case (app.appID, _) where !self.settings.isStrict || secret == app.appKey.reveal(): return .anonymous
        default: throw .invalidClient
        }
    }

    private func refresh(_ body: JSONValue, _ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        guard self.app.givesRefreshTokens else {
            throw KiiFailure(403, "OPERATION_NOT_SUPPORTED", "The app gives no refresh tokens.")
        }
        guard let refreshToken = body["refresh_token"]?.string else { throw .invalidInput("refresh_token is needed.") }
        guard let former = self.state.token(refreshedBy: refreshToken) else {
            let message = "The refresh token is not valid: it is unknown or was used."
            throw KiiFailure(403, "WRONG_REFRESH_TOKEN", message)
        }
        try self.checkIsEnabled(former.caller)
        let expiresAt = try self.expiry(body, now: call.now)
        self.state.remove(former)
        return self.grantToken(former.caller, expiresAt: expiresAt, refreshable: true, now: call.now)
    }

    private func grantToken(
        _ caller: Caller, expiresAt: Timestamp?, refreshable: Bool, now: Timestamp
    ) -> HTTPResponse {
        let expiresAt = expiresAt ?? self.app.tokenLifetime.map { now + $0 }
        let record = self.newToken(for: caller, expiresAt: expiresAt, refreshable: refreshable)
        let milliseconds = expiresAt.map { $0.millisecondsSinceEpoch - now.millisecondsSinceEpoch }
        let answer = JSONValue.object(present: [
            "id": caller.principal?.id, "access_token": record.token.reveal(),
            "expires_in": milliseconds.map { $0 / 1000 } ?? EmulatedCloud.unlimitedSeconds, "token_type": "Bearer",
            "refresh_token": record.refreshToken?.reveal(),
        ])
        return .json(200, nil, answer)
    }

    func newToken(for caller: Caller, expiresAt: Timestamp? = nil, refreshable: Bool = false) -> TokenRecord {
        let isRefreshable = refreshable && self.app.givesRefreshTokens
        let record = TokenRecord(
            token: Secret(self.identifiers.secret(43)), caller: caller, expiresAt: expiresAt,
            refreshToken: isRefreshable ? Secret(self.identifiers.secret(43)) : nil)
        self.state.save(record)
        return record
    }
}
