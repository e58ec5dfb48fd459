extension KiiSession {
    /// Creates an installation, or finds the existing one.
    ///
    /// An owner has at most one installation for MQTT: further calls return the same installation. For another network,
    /// a further call with the same registration ID transfers the installation to its new owner.
    ///
    /// - Parameters:
    ///   - deviceType: the network. Default MQTT.
    ///   - isDevelopment: whether the installation receives development messages. Default `false`: production.
    ///   - registrationID: the network's own ID. Required except for MQTT, where the cloud makes it. Default `nil`.
    ///   - owner: the installation's owner; needs an administrator's token. Default `nil`: the token's principal.
    ///   - members: further members of the request, for a server with extensions: a JSON object. Default: none.
    /// - Source: `POST /apps/{appID}/installations`
    public func createInstallation(
        deviceType: DeviceType = .mqtt, isDevelopment: Bool = false, registrationID: String? = nil,
        owner: Principal? = nil, members: JSONValue = [:]
    ) async throws -> Installation {
        let rule: String? =
            switch registrationID {
            case nil: deviceType == .mqtt ? nil : "present for \(deviceType.rawValue)"
            case .some where deviceType == .mqtt: "absent for MQTT, where the cloud makes it up"
            case .some(let id): id.isEmpty ? "not empty" : nil
            }
        if let rule { throw KiiInputError(.installationRegistrationID, rule: rule) }
        try members.requireInstallationMembers()
        let named = JSONMembers(present: [
            "deviceType": deviceType.rawValue, "development": isDevelopment,
            "installationRegistrationID": registrationID,
        ])
        let body = named + (owner.map { [($0.field.rawValue, JSONValue($0.id))] } ?? []) + members.pairs
        let path = KiiPath("installations")
        let call = KiiCall(.post, path, statuses: [200, 201]) { response throws(KiiResponseError) in
            var installation = try Installation(response.fields())
            installation.deviceType = installation.deviceType ?? deviceType
            installation.owner = installation.owner ?? owner
            return installation
        }.with {
            // A repeated request returns the installation of the first request.
            $0.isIdempotent = true
            $0.body = .kii("InstallationCreationRequest", body)
        }
        return try await self.perform(call)
    }

    /// Reads one installation.
    ///
    /// - Throws: ``KiiError`` with `INSTALLATION_NOT_FOUND`.
    /// - Source: `GET /apps/{appID}/installations/{installationID}` and `/{deviceType}:{installationRegistrationID}`
    public func installation(_ reference: InstallationReference) async throws -> Installation {
        try await self.perform(.reading(reference.path(), Installation.init))
    }

    /// Lists the installations of `owner`, or of the whole app if `owner` is `nil`.
    ///
    /// An administrator's token reads any list. A user's or a thing's token reads only its own list; for another list
    /// the cloud answers 401 `UNAUTHORIZED`. A user's list excludes the installations of the user's things.
    ///
    /// - Source: `GET /apps/{appID}/installations[?userID=…|?thingID=…]`
    public func installations(of owner: Principal?) -> KiiList<Installation> {
        KiiList(self) {
            // With an empty ID the cloud would list everybody's installations.
            if let owner { try KiiInputError.require(owner.id, owner.field) }
            var call = KiiCall.reading(KiiPath("installations")) { fields throws(KiiResponseError) in
                try KiiPage(fields, "installations", Installation.init)
            }
            if let owner { call.query = [(owner.field.rawValue, owner.id)] }
            return call
        }
    }

    /// Removes an installation, which then receives no more messages.
    ///
    /// - Throws: ``KiiError`` with `INSTALLATION_NOT_FOUND`.
    /// - Source: `DELETE /apps/{appID}/installations/{installationID}` and `/{deviceType}:{installationRegistrationID}`
    public func deleteInstallation(_ reference: InstallationReference) async throws {
        try await self.perform(KiiCall(.delete, try reference.path(), statuses: [200, 204]))
    }

    /// Reads the broker's address and the credentials of an installation.
    ///
    /// `waiting` is the retry policy for refusals, such as while the cloud is still making the endpoint.
    /// ``KiiClient/retry`` then applies only if no answer arrives. Without `waiting`, ``KiiClient/retry`` applies to
    /// every failure.
    ///
    /// - Throws: ``KiiError`` with `MQTT_ENDPOINT_NOT_READY` when the cloud has not made the endpoint before the last
    ///   attempt.
    /// - Source: `GET /apps/{appID}/installations/{installationID}/mqtt-endpoint`
    public func mqttEndpoint(of installationID: String, waiting: RetryPolicy? = nil) async throws -> MQTTEndpoint {
        let path = KiiPath("installations").appending(installationID, as: .installationID).appending("mqtt-endpoint")
        // In Kii's reference the answer may lack `installationID`, and `portTCP` or `portSSL`.
        let call = KiiCall(.get, path, statuses: [200]) { response throws(KiiResponseError) in
            let fields = try response.fields()
            let id = try fields.optionalString("installationID") ?? installationID
            return try MQTTEndpoint(fields, of: id, in: response)
        }
        guard var waiting else { return try await self.perform(call) }
        waiting.subject = .refusals
        return try await self.withToken { token in
            var client = self.client
            client.retry.subject = .missingAnswers
            return try await waiting.repeating(isIdempotent: true) { [client] _ in
                try await client.perform(call, token: token.token)
            }
        }
    }
}

extension JSONValue {
    func requireInstallationMembers() throws(KiiInputError) {
        let own: Set = ["deviceType", "development", "installationRegistrationID", "userID", "thingID"]
        try self.requireObject(without: own.contains, rule: "under a key that this call does not set itself")
    }
}

extension Principal {
    fileprivate var field: KiiInputError.Field {
        switch self {
        case .user: .userID
        case .thing: .thingID
        }
    }
}
