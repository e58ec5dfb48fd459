import KiiPushCore

extension Route {
    /// Tokens, users and things.
    static let accounts: [Route] = [
        Route.token,
        Route("POST", "users", need: .app) { cloud, call throws(KiiFailure) in try cloud.registerUser(call) },
        Route("GET", "users/{user}") { cloud, call throws(KiiFailure) in try cloud.showUser(call) },
        Route("PUT", "users/{user}/password") { cloud, call throws(KiiFailure) in try cloud.changePassword(call) },
        Route("POST", "things", need: .app) { cloud, call throws(KiiFailure) in try cloud.registerThing(call) },
        Route("GET", "things/{thing}") { cloud, call throws(KiiFailure) in try cloud.showThing(call) },
    ]
}

extension EmulatedCloud {
    private static let passwordLengths = 4...50

    mutating func registerUser(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let isPseudo = call.mediaType == "application/vnd.kii.registrationandauthorizationrequest+json"
        let pseudo = "RegistrationAndAuthorizationRequest"
        let body =
            try isPseudo
            ? call.object(of: pseudo)
            : call.object(of: "RegistrationRequest", others: ["application/vnd.kii.\(pseudo)+json"])
        let attributes = try UserRecord.attributes(body)
        let names = try self.checkedNames(body)
        let password = try isPseudo ? nil : self.checkedPassword(body["password"])
        guard isPseudo || !names.isEmpty else {
            throw .invalidInput("One of \(UserRecord.names.joined(separator: ", ")) is needed.")
        }
        let user = UserRecord(id: self.identifiers.principal(), attributes: attributes, password: password)
        self.state.save(user)
        let location = [self.location("users/\(user.id)", call)]
        guard isPseudo else { return .json(201, "RegistrationResponse", .object(user.description), fields: location) }
        // A pseudo user's token cannot be refreshed: losing it loses the account.
        let token = self.newToken(for: .user(user.id))
        let answer = JSONValue.object(user.description + [("_accessToken", JSONValue(token.token.reveal()))])
        return .json(201, "RegistrationAndAuthorizationResponse", answer, fields: location)
    }

    /// The fields that name the user, legal and not taken.
    private func checkedNames(_ body: JSONValue) throws(KiiFailure) -> [String: String] {
        var names: [String: String] = [:]
        for field in UserRecord.names {
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
        for (field, value) in names.sorted(by: { $0.key < $1.key })
        where self.state.user(field: field, value: value) != nil {
            throw KiiFailure(
                409, "USER_ALREADY_EXISTS", "A user with this \(field) exists.",
                ["field": field, "value": value, "appID": self.appID])
        }
        return names
    }

    private func checkedPassword(_ value: JSONValue?) throws(KiiFailure) -> Secret {
        guard let password = value?.string, EmulatedCloud.passwordLengths.contains(password.utf8.count),
            password.utf8.allSatisfy({ (0x20...0x7e).contains($0) })
        else { throw .invalidInput("A password has to be 4 to 50 printable ASCII characters.") }
        return Secret(password)
    }

    /// All of a user to the user and the administrator, the names that others may know to others.
    func showUser(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let user = try self.user(call)
        let isOpen = self.mayAct(call.caller, for: .user(user.id))
        return .json(200, "UserDataRetrievalResponse", .object(isOpen ? user.description : user.publicDescription))
    }

    /// A new password ends every token of the user.
    mutating func changePassword(_ call: CloudCall) throws(KiiFailure) {
        var user = try self.user(call)
        try self.require(self.mayAct(call.caller, for: .user(user.id)), call, "Only the user may change the password.")
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
                throw .wrongPassword(principalID: user.id, address: user.address, app: self.appID)
            }
        }
        user.password = password
        self.state.save(user)
        self.state.removeTokens(of: .user(user.id))
    }
}
