extension KiiClient {
    /// Creates an installation, or finds the one that is there; by default one for MQTT and production.
    ///
    /// - Parameters:
    ///   - deviceType: The network. Default MQTT.
    ///   - isDevelopment: Whether it is to get what is sent to development. Default `false`: production.
    ///   - registrationID: The network's own ID. Default `nil`, as MQTT wants it.
    ///   - owner: Whose it is to be, with an administrator's token. Default `nil`: the token's principal.
    ///   - payload: How its pushes are written, which the emulator alone knows. Default `nil`: as they are.
    ///   - token: The owner's or an administrator's token.
    /// - Throws: See ``KiiClient``.
    public func createInstallation(
        deviceType: DeviceType = .mqtt,
        isDevelopment: Bool = false,
        registrationID: String? = nil,
        owner: Principal? = nil,
        payload: PayloadFormat? = nil,
        token: Secret
    ) async throws -> Installation {
        let call = CreateInstallation(
            deviceType: deviceType, isDevelopment: isDevelopment, registrationID: registrationID, owner: owner,
            payload: payload)
        return try await self.execute(call, token: token)
    }

    /// Reads one installation.
    ///
    /// - Throws: ``KiiError`` with ``KiiErrorCode/installationNotFound`` when it is not there; otherwise see
    ///   ``KiiClient``.
    public func installation(_ reference: InstallationReference, token: Secret) async throws -> Installation {
        try await self.execute(GetInstallation(reference), token: token)
    }

    /// The installations of `owner`, or with `nil` and an administrator's token, of the whole app, read page after page
    /// as far as they are looked at. To a user's or a thing's token the cloud refuses every list but its own with 401
    /// ``KiiErrorCode/unauthorized``.
    public func installations(of owner: Principal?, token: Secret) -> KiiList<Installation> {
        KiiList(ListInstallations(of: owner), client: self, token: token)
    }

    /// Removes an installation.
    ///
    /// - Throws: ``KiiError`` with ``KiiErrorCode/installationNotFound`` when it is not there; otherwise see
    ///   ``KiiClient``.
    public func deleteInstallation(_ reference: InstallationReference, token: Secret) async throws {
        try await self.execute(DeleteInstallation(reference), token: token)
    }

    /// Asks once where and as whom an installation connects to the broker.
    ///
    /// - Throws: ``KiiError`` with ``KiiErrorCode/mqttEndpointNotReady`` and ``KiiError/retryAfter`` when the cloud is
    ///   still making it; otherwise see ``KiiClient``.
    public func mqttEndpoint(of installationID: String, token: Secret) async throws -> MQTTEndpoint {
        try await self.execute(GetMQTTEndpoint(of: installationID), token: token)
    }

    /// Asks where and as whom an installation connects to the broker, again and again until the cloud has made it.
    ///
    /// `waiting` holds for the refusals that may pass; a connection that fails is a matter of ``retry``.
    ///
    /// - Parameters:
    ///   - installationID: Which installation.
    ///   - token: Its owner's or an administrator's token.
    ///   - waiting: How often, and for how long. ``RetryPolicy/endpoint`` is meant for this.
    /// - Throws: The last ``KiiError`` when `waiting` allows no further request; otherwise see ``KiiClient``.
    public func mqttEndpoint(
        of installationID: String,
        token: Secret,
        waiting: RetryPolicy
    ) async throws -> MQTTEndpoint {
        var waiting = waiting
        waiting.subject = .refusals
        var client = self
        client.retry.subject = .missingAnswers
        return try await waiting.repeating(isIdempotent: true) { [client] _ in
            try await client.mqttEndpoint(of: installationID, token: token)
        }
    }
}
