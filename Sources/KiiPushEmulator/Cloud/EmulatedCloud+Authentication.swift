import KiiPushCore

extension EmulatedCloud {
    /// - Throws: ``KiiFailure`` 401 without sufficient credentials or for a disabled user or thing, 403 for an invalid
    ///   token.
    func authenticate(_ call: CloudCall, need: Route.Need) throws(KiiFailure) -> Caller {
        if case .administrator = need { return try self.administrator(call) }
        if self.settings.isStrict { try self.checkAppHeaders(call) }
        guard let caller = try self.caller(call) else {
            if case .nobody = need { return .anonymous }
            throw self.unauthorized("The request carries no credentials.")
        }
        if case .principal = need, caller == .anonymous {
            throw self.unauthorized("Anonymous access is not possible here.", caller)
        }
        return caller
    }

    func unauthorized(_ message: String, _ caller: Caller? = nil) -> KiiFailure {
        KiiFailure(
            401, "UNAUTHORIZED", message,
            ["authenticatedAppID": self.appID, "authenticatedPrincipalID": caller?.principal?.id])
    }

    private func caller(_ call: CloudCall) throws(KiiFailure) -> Caller? {
        guard let authorization = Authorization(call) else {
            // Kii's SDKs register and log in with only these two header fields.
            let isOurs = call.field("X-Kii-AppID") == self.appID && call.field("X-Kii-AppKey") != nil
            return isOurs ? .anonymous : nil
        }
        if let token = authorization.bearer { return try self.caller(token: token, now: call.now) }
        guard let pair = authorization.basic else {
            throw self.unauthorized("The Authorization field is neither Bearer nor Basic.")
        }
        // `APP_ID:APP_KEY`. Kii's guide allows any text after the colon.
        let parts = pair.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == self.appID,
            !self.settings.isStrict || parts[1] == self.settings.app.appKey.reveal()
        else { throw self.unauthorized("The app's credentials are not correct.") }
        return .anonymous
    }

    private func caller(token: String, now: Timestamp) throws(KiiFailure) -> Caller {
        guard let record = self.state.tokens[token] else {
            guard let pageToken = self.settings.pageToken, pageToken.isEqual(to: token) else { throw .wrongToken }
            return .admin
        }
        if let expiresAt = record.expiresAt, expiresAt <= now { throw .wrongToken }
        try self.checkIsEnabled(record.caller)
        return record.caller
    }

    func checkIsEnabled(_ caller: Caller) throws(KiiFailure) {
        switch caller {
        case .principal(.user(let id)): if self.state.users[id]?.isDisabled == true { throw .userDisabled }
        case .principal(.thing(let id)): if self.state.things[id]?.isDisabled == true { throw .thingDisabled }
        case .admin, .anonymous: break
        }
    }

    private func administrator(_ call: CloudCall) throws(KiiFailure) -> Caller {
        let (app, authorization) = (self.settings.app, Authorization(call))
        var isAdmin = authorization?.basic == "\(app.clientID):\(app.clientSecret.reveal())"
        if let token = authorization?.bearer { isAdmin = try self.caller(token: token, now: call.now) == .admin }
        guard isAdmin else { throw self.unauthorized("This is for the app's administrator alone.") }
        return .admin
    }

    private func checkAppHeaders(_ call: CloudCall) throws(KiiFailure) {
        let (id, key) = (call.field("X-Kii-AppID"), call.field("X-Kii-AppKey"))
        guard id == nil || id == self.appID, key == nil || key == self.settings.app.appKey.reveal() else {
            throw self.unauthorized("X-Kii-AppID or X-Kii-AppKey is not correct.")
        }
    }

    func require(_ isAllowed: Bool, _ call: CloudCall, _ what: String) throws(KiiFailure) {
        guard isAllowed else { throw self.unauthorized(what, call.caller) }
    }

    func mayAct(_ caller: Caller, for principal: Principal) -> Bool {
        if caller == .admin || caller == .principal(principal) { return true }
        guard case .thing(let id) = principal, let thing = self.state.things[id] else { return false }
        return thing.owners.contains { self.belongs(caller, to: $0) }
    }

    /// Users, things and the administrator belong to the app's scope. A thing has no rights in its owner's scope.
    ///
    /// - Source: Kii's guide on securing topics, default rights.
    func belongs(_ caller: Caller, to scope: Scope) -> Bool {
        if caller == .admin { return true }
        switch scope {
        case .app: return caller != .anonymous
        case .user(let id): return caller == .user(id)
        case .thing(let id): return self.mayAct(caller, for: .thing(id))
        case .group(let id):
            guard let userID = caller.userID else { return false }
            return self.state.groups[id]?.members.contains(userID) ?? false
        }
    }
}

extension Secret {
    /// The time of the comparison reveals only the length.
    fileprivate func isEqual(to text: String) -> Bool {
        let (own, other) = (self.reveal().utf8, text.utf8)
        return own.count == other.count && zip(own, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

private struct Authorization {
    var bearer: String?
    /// The decoded credentials, as `NAME:PASSWORD`. Empty if they cannot be decoded; `nil` without Basic credentials.
    var basic: String?

    init?(_ call: CloudCall) {
        guard let field = call.field("Authorization") else { return nil }
        let isBlank: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        let words = field.utf8.drop(while: isBlank)
        let scheme = words.prefix { !isBlank($0) }
        var rest = words[scheme.endIndex...].drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        let credentials = String(Substring(rest))
        guard !credentials.isEmpty else { return }
        // The scheme's case does not matter (RFC 9110 section 11.1). Kii's JavaScript SDK sends `bearer`.
        switch Substring(scheme).lowercased() {
        case "bearer": self.bearer = credentials
        case "basic": self.basic = Base64.decode(credentials).map { String(decoding: $0, as: UTF8.self) } ?? ""
        default: break
        }
    }
}
