extension KiiAccount {
    func signIn(with client: KiiClient) async throws -> AccessToken {
        switch self {
        case .pseudoUser:
            return try await client.registerPseudoUser()
        case .user(let name, let password, let createsIfMissing):
            if createsIfMissing {
                do {
                    _ = try await client.registerUser(UserRegistration(name: name, password: password))
                } catch let error as KiiError where error.errorCode == KiiErrorCode.userAlreadyExists {}
            }
            return try await client.login(.user(name: name, password: password))
        case .thing(let vendorThingID, let password, let type):
            do {
                let thing = try await client.registerThing(
                    ThingRegistration(vendorThingID: vendorThingID, password: password, thingType: type))
                if let token = thing.accessToken { return token }
            } catch let error as KiiError where error.errorCode == KiiErrorCode.thingAlreadyExists {}
            return try await client.login(.thing(vendorThingID: vendorThingID, password: password))
        }
    }

    var canSignInAgain: Bool {
        switch self {
        case .pseudoUser: false
        case .user(_, let password, _), .thing(_, let password, _): !password.reveal().isEmpty
        }
    }
}

extension UserRegistration {
    fileprivate init(name: String, password: Secret) {
        if name.hasPrefix("EMAIL:") {
            self.init(emailAddress: String(name.dropFirst("EMAIL:".count)), password: password)
        } else if name.hasPrefix("PHONE:") {
            self.init(phoneNumber: String(name.dropFirst("PHONE:".count)), password: password)
        } else if name.contains("@") {
            self.init(emailAddress: name, password: password)
        } else if name.hasPrefix("+") {
            self.init(phoneNumber: name, password: password)
        } else {
            self.init(loginName: name, password: password)
        }
    }
}
