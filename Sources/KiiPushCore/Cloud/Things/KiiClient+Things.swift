extension KiiClient {
    /// Onboards a thing by itself.
    ///
    /// - Parameters:
    ///   - vendorThingID: The ID its vendor gave it: 1 to 200 of `A-Z a-z 0-9 - _ .`.
    ///   - password: Its password; the first onboarding sets it.
    ///   - description: What is said of a thing that is not registered yet. Default: nothing.
    /// - Returns: The thing with a token and an MQTT endpoint.
    /// - Throws: See ``KiiClient``.
    public func onboardThing(
        vendorThingID: String,
        password: Secret,
        description: ThingDescription = ThingDescription()
    ) async throws -> OnboardedThing {
        try await self.execute(
            OnboardThing(.byThing(vendorThingID: vendorThingID, description), password: password))
    }

    /// Onboards a thing by its owner, who knows the ID that the vendor gave it.
    ///
    /// - Parameters:
    ///   - vendorThingID: The ID its vendor gave it: 1 to 200 of `A-Z a-z 0-9 - _ .`.
    ///   - password: The thing's password; the first onboarding sets it.
    ///   - owner: Who is to own it.
    ///   - description: What is said of a thing that is not registered yet. Default: nothing.
    ///   - token: The owner's token; for a group, that of a member.
    /// - Returns: The thing with a token of its own and an MQTT endpoint.
    /// - Throws: See ``KiiClient``.
    public func onboardThing(
        vendorThingID: String,
        password: Secret,
        owner: ThingOwner,
        description: ThingDescription = ThingDescription(),
        token: Secret
    ) async throws -> OnboardedThing {
        try await self.execute(
            OnboardThing(.byOwner(owner, vendorThingID: vendorThingID, description), password: password), token: token)
    }

    /// Onboards a thing that is registered by its owner.
    ///
    /// - Parameters:
    ///   - thingID: The ID that the cloud gave it (`th.…`).
    ///   - password: The thing's password.
    ///   - owner: Who is to own it.
    ///   - token: The owner's token; for a group, that of a member.
    /// - Returns: The thing with a token of its own and an MQTT endpoint.
    /// - Throws: ``KiiError`` with ``KiiErrorCode/thingNotFound`` when there is no such thing; otherwise see
    ///   ``KiiClient``.
    public func onboardThing(
        thingID: String,
        password: Secret,
        owner: ThingOwner,
        token: Secret
    ) async throws -> OnboardedThing {
        try await self.execute(
            OnboardThing(.byOwnerOfRegistered(owner, thingID: thingID), password: password), token: token)
    }
}
