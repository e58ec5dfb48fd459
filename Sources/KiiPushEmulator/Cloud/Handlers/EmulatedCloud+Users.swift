import KiiPushCore

extension Route {
    static let accounts: [Route] = [
        Route.token,
        Route("POST", "users", need: .app, EmulatedCloud.registerUser),
        Route("GET", "users/{user}", EmulatedCloud.showUser),
        Route("POST", "users/{user}", EmulatedCloud.updateUser),
        Route("PUT", "users/{user}/email-address", EmulatedCloud.changeEmailAddress),
        Route("PUT", "users/{user}/phone-number", EmulatedCloud.changePhoneNumber),
        Route("PUT", "users/{user}/password", EmulatedCloud.changePassword),
        Route("POST", "things", need: .app, EmulatedCloud.registerThing),
        Route("GET", "things/{thing}", EmulatedCloud.showThing),
        Route("PATCH", "things/{thing}", EmulatedCloud.updateThing),
        Route("GET", "things/{thing}/status", EmulatedCloud.showThingStatus),
        Route("PUT", "things/{thing}/status", EmulatedCloud.changeThingStatus),
    ]
}

extension EmulatedCloud {
    private static let passwordLengths = 4...50

    func registerUser(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let wantsToken = call.mediaType == "application/vnd.kii.registrationandauthorizationrequest+json"
        let withToken = "RegistrationAndAuthorizationRequest"
        let body =
            try wantsToken
            ? call.object(of: withToken)
            : call.object(of: "RegistrationRequest", others: ["application/vnd.kii.\(withToken)+json"])
        let attributes = try UserRecord.attributes(body)
        let names = try self.checkedNames(body)
        // A user without a password is Kii's "pseudo user", who has only a token.
        let isNormal = !wantsToken || body.present("password") != nil
        let password = try isNormal ? self.checkedPassword(body["password"], names: names) : nil
        let user = UserRecord(id: self.identifiers.principal(), attributes: .object(attributes), password: password)
        self.state.save(user)
        let location = [self.location("users/\(user.id)", call)]
        guard wantsToken else { return .json(201, "RegistrationResponse", .object(user.description), fields: location) }
        // The token of a pseudo user never expires, since such a user cannot log in again.
        let end = isNormal ? self.app.tokenLifetime.map { call.now + $0 } : nil
        let token = self.newToken(for: .user(user.id), expiresAt: end, refreshable: isNormal)
        let tokens = JSONMembers(present: [
            "_accessToken": token.token.reveal(), "_refreshToken": token.refreshToken?.reveal(),
        ])
        return .json(
            201, "RegistrationAndAuthorizationResponse", .object(user.description + tokens), fields: location)
    }

    /// - Parameter user: the user whose names change; `nil` for a new user.
    private func checkedNames(
        _ body: JSONValue, _ fields: [String] = UserRecord.names, of user: UserRecord? = nil
    ) throws(KiiFailure) -> [String: String] {
        var names: [String: String] = [:]
        for field in fields {
            guard let value = body.present(field) else { continue }
            guard let text = value.string, !text.isEmpty, text.utf8.count <= 256 else {
                throw .invalidInput("\(field) has to be a string that is not empty.")
            }
            names[field] = text
        }
        if let name = names["loginName"], !Names.isLegal(name, 3...64, extra: "-_.") {
            throw .invalidInput("loginName has to be 3 to 64 of A-Z, a-z, 0-9, `-`, `_` and `.`.")
        }
        if let address = names["emailAddress"], !Names.isEmailAddress(address) {
            throw .invalidInput("emailAddress has to be an address such as ann@example.com.")
        }
        for (field, value) in names.sorted(by: { $0.key < $1.key }) {
            guard let other = self.state.user(field: field, value: value), other.id != user?.id else { continue }
            throw KiiFailure(
                409, "USER_ALREADY_EXISTS", "A user with this \(field) exists.",
                ["field": field, "value": value, "appID": self.appID])
        }
        return names
    }

    private func checkedPassword(_ value: JSONValue?, names: [String: String]) throws(KiiFailure) -> Secret {
        let password = try self.checkedPassword(value)
        guard !names.isEmpty else {
            throw .invalidInput("One of \(UserRecord.names.joined(separator: ", ")) is needed.")
        }
        return password
    }

    private func checkedPassword(_ value: JSONValue?) throws(KiiFailure) -> Secret {
        guard let password = value?.string, EmulatedCloud.passwordLengths.contains(password.utf8.count),
            password.utf8.allSatisfy({ (0x20...0x7e).contains($0) })
        else { throw .invalidInput("A password has to be 4 to 50 printable ASCII characters.") }
        return Secret(password)
    }

    /// The user and the administrator see all fields. Other callers see only the ID, the login name and the display
    /// name.
    func showUser(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let user = try self.user(call)
        let isOpen = self.mayAct(call.caller, for: .user(user.id))
        return .json(200, "UserDataRetrievalResponse", .object(isOpen ? user.description : user.publicDescription))
    }

    private func changeableUser(_ call: CloudCall) throws(KiiFailure) -> UserRecord {
        try self.ownUser(call, "Only the user may change the account.")
    }

    /// The body replaces all of the app's own fields. Kii's fields that the body leaves out keep their values.
    ///
    /// - Source: Kii's guide on custom fields.
    func updateUser(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        var user = try self.changeableUser(call)
        let body = try call.object(of: "UserUpdateRequest")
        let former = user.attributes.pairs.filter { UserRecord.known[$0.0] != nil }
        let changes = try UserRecord.attributes(body).filter { !$0.1.isNull }
        user.attributes = .object(former + changes)
        _ = try self.checkedNames(body, of: user)
        if let password = body.present("password") {
            guard user.password == nil else { throw .invalidInput("A password is changed at users/{userID}/password.") }
            user.password = try self.checkedPassword(password, names: self.checkedNames(user.attributes, of: user))
        }
        self.state.save(user)
        return .json(200, "UserDataRetrievalResponse", ["modifiedAt": call.now.json])
    }

    func changeEmailAddress(_ call: CloudCall) throws(KiiFailure) {
        try self.changeAddress("emailAddress", "EmailAddressModificationRequest", call)
    }

    func changePhoneNumber(_ call: CloudCall) throws(KiiFailure) {
        try self.changeAddress("phoneNumber", "PhoneNumberModificationRequest", call)
    }

    private func changeAddress(_ field: String, _ request: String, _ call: CloudCall) throws(KiiFailure) {
        var user = try self.changeableUser(call)
        let body = try call.object(of: request)
        let address = try body.neededText(field)
        let isVerified = try body.flag("verified") ?? false
        try self.require(
            !isVerified || call.caller == .admin, call, "Only the administrator calls an address verified.")
        _ = try self.checkedNames(body, [field], of: user)
        user.attributes = .object(user.attributes.pairs + [(field, JSONValue(address))])
        self.state.save(user)
    }

    /// A new password revokes all tokens of the user.
    func changePassword(_ call: CloudCall) throws(KiiFailure) {
        var user = try self.changeableUser(call)
        let body = try call.object(of: "ChangePasswordRequest")
        let minimum = EmulatedCloud.passwordLengths.lowerBound
        if let text = body["newPassword"]?.string, text.utf8.count < minimum {
            let message = "The password has fewer than \(minimum) characters."
            throw KiiFailure(400, "PASSWORD_TOO_SHORT", message, ["minimumLength": minimum])
        }
        let password = try self.checkedPassword(body["newPassword"])
        if call.caller != .admin {
            guard let former = user.password else {
                throw KiiFailure(409, "OPERATION_NOT_ALLOWED", "A pseudo user has no password to change.")
            }
            guard let old = body["oldPassword"]?.string else { throw .invalidInput("oldPassword is needed.") }
            guard old == former.reveal() else {
                throw self.wrongPassword(principalID: user.id, address: user.address)
            }
        }
        user.password = password
        self.state.save(user)
        self.state.removeTokens(of: .user(user.id))
    }
}
