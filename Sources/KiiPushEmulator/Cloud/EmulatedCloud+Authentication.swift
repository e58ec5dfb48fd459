import KiiPushCore

extension EmulatedCloud {
    /// Who makes the call.
    ///
    /// - Throws: ``KiiFailure`` 401 without (sufficient) credentials, 403 for a token that is not valid.
    func authenticate(_ call: CloudCall, need: Route.Need) throws(KiiFailure) -> Caller {
        if case .administrator = need { return try self.administrator(call) }
        if self.settings.isStrict { try self.checkAppHeaders(call) }
        guard let caller = try self.caller(call) else {
            if case .nobody = need { return .anonymous }
            throw .unauthorized("The request carries no credentials.", app: self.appID, caller: nil)
        }
        if case .principal = need, caller == .anonymous {
            throw .unauthorized("Anonymous access is not possible here.", app: self.appID, caller: caller)
        }
        return caller
    }

    private func caller(_ call: CloudCall) throws(KiiFailure) -> Caller? {
        guard let authorization = Authorization(call) else {
            // Registration and login with the app's headers alone, as the SDKs do.
            let isOurs = call.field("X-Kii-AppID") == self.appID && call.field("X-Kii-AppKey") != nil
            return isOurs ? .anonymous : nil
        }
        switch authorization.scheme {
        case "bearer" where !authorization.credentials.isEmpty:
            return try self.caller(token: authorization.credentials, now: call.now)
        case "basic" where !authorization.credentials.isEmpty:
            return try self.caller(basic: authorization.credentials)
        default:
            throw .unauthorized("The Authorization field is neither Bearer nor Basic.", app: self.appID, caller: nil)
        }
    }

    private func caller(token: String, now: Timestamp) throws(KiiFailure) -> Caller {
        guard let record = self.state.tokens[token] else { throw .wrongToken }
        if let expiresAt = record.expiresAt, expiresAt <= now { throw .wrongToken }
        try self.checkIsEnabled(record.caller)
        return record.caller
    }

    /// Refuses a user or thing that is switched off.
    func checkIsEnabled(_ caller: Caller) throws(KiiFailure) {
        switch caller {
        case .user(let id): if self.state.users[id]?.isDisabled == true { throw .userDisabled }
        case .thing(let id): if self.state.things[id]?.isDisabled == true { throw .thingDisabled }
        case .admin, .anonymous: break
        }
    }

    /// `base64(APP_ID:APP_KEY)`; Kii's guide allows anything after the colon.
    private func caller(basic credentials: String) throws(KiiFailure) -> Caller {
        let parts = Base64.decode(credentials).map { String(decoding: $0, as: UTF8.self) }?
            .split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let parts, parts.count == 2, parts[0] == self.appID,
            !self.settings.isStrict || parts[1] == self.settings.app.appKey.reveal()
        else { throw .unauthorized("The app's credentials are not correct.", app: self.appID, caller: nil) }
        return .anonymous
    }

    private func administrator(_ call: CloudCall) throws(KiiFailure) -> Caller {
        let app = self.settings.app
        if let authorization = Authorization(call), !authorization.credentials.isEmpty {
            let credentials = authorization.credentials
            switch authorization.scheme {
            case "bearer": if try self.caller(token: credentials, now: call.now) == .admin { return .admin }
            case "basic":
                let pair = Base64.decode(credentials).map { String(decoding: $0, as: UTF8.self) }
                if pair == "\(app.clientID):\(app.clientSecret.reveal())" { return .admin }
            default: break
            }
        }
        throw .unauthorized("This is for the app's administrator alone.", app: self.appID, caller: nil)
    }

    private func checkAppHeaders(_ call: CloudCall) throws(KiiFailure) {
        let id = call.field("X-Kii-AppID")
        let key = call.field("X-Kii-AppKey")
        guard id == nil || id == self.appID, key == nil || key == self.settings.app.appKey.reveal() else {
            throw .unauthorized("X-Kii-AppID or X-Kii-AppKey is not correct.", app: self.appID, caller: nil)
        }
    }

    /// Refuses the call unless `isAllowed`.
    func require(_ isAllowed: Bool, _ call: CloudCall, _ what: String) throws(KiiFailure) {
        guard isAllowed else { throw .unauthorized(what, app: self.appID, caller: call.caller) }
    }

    /// Whether `caller` may act for `principal`: itself, the administrator, or the owner of a thing.
    func mayAct(_ caller: Caller, for principal: Principal) -> Bool {
        if caller == .admin || caller == Caller(principal) { return true }
        guard case .thing(let thingID) = principal, case .user(let userID) = caller else { return false }
        guard let thing = self.state.things[thingID] else { return false }
        return thing.owners.contains(userID)
            || thing.ownerGroups.contains { self.state.groups[$0]?.members.contains(userID) ?? false }
    }

    /// Whether `caller` belongs to `scope`: the user itself, a group's member, a thing or its owner, in the app everyone
    /// with a token, and the administrator everywhere.
    ///
    /// - Source: Kii's guide on securing topics, default rights. A thing has no rights in its owner's scope.
    func belongs(_ caller: Caller, to scope: Scope) -> Bool {
        if caller == .admin { return true }
        switch scope {
        case .app: return caller != .anonymous
        case .user(let id): return caller == .user(id)
        case .thing(let id): return self.mayAct(caller, for: .thing(id))
        case .group(let id):
            guard case .user(let userID) = caller else { return false }
            return self.state.groups[id]?.members.contains(userID) ?? false
        }
    }
}

/// The field of that name, taken apart byte by byte.
private struct Authorization {
    /// In lower case, as it is compared in any: Kii's JavaScript SDK sends `bearer` (RFC 9110 section 11.1 too).
    let scheme: String
    /// What follows, without the blanks around it.
    let credentials: String

    /// `nil` when the request has none.
    init?(_ call: CloudCall) {
        guard let field = call.field("Authorization") else { return nil }
        let isBlank: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        let words = field.utf8.drop(while: isBlank)
        let scheme = words.prefix { !isBlank($0) }
        var credentials = words[scheme.endIndex...].drop(while: isBlank)
        while let last = credentials.last, isBlank(last) { credentials.removeLast() }
        self.scheme = Substring(scheme).lowercased()
        self.credentials = String(Substring(credentials))
    }
}
