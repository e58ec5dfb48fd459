import KiiPushCore

extension Route {
    static let installations: [Route] = [
        Route("POST", "installations", EmulatedCloud.createInstallation),
        Route("GET", "installations", EmulatedCloud.listInstallations),
        Route("GET", "installations/{installation}", EmulatedCloud.showInstallation),
        Route("DELETE", "installations/{installation}", EmulatedCloud.deleteInstallation),
        Route("GET", "installations/{installation}/mqtt-endpoint", EmulatedCloud.showEndpoint),
    ]
}

extension EmulatedCloud {
    func createInstallation(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let body = try call.object(of: "InstallationCreationRequest")
        // One of Kii's clients sends `installationType` in a live test.
        let type = (body["deviceType"] ?? body["installationType"])?.string
        guard let deviceType = type.flatMap({ InstallationRecord.DeviceType(rawValue: $0) }) else {
            let known = InstallationRecord.DeviceType.allCases.map { $0.rawValue }.joined(separator: ", ")
            throw .invalidInput("deviceType has to be one of \(known).")
        }
        let registrationID = try body.text("installationRegistrationID")
        // A Boolean, or the string `true` or `false` of Kii's C SDK ebisu. The default is production.
        let development = body.present("development") ?? false
        guard let isDevelopment = development.bool ?? development.string.flatMap({ Bool($0) }) else {
            throw .invalidInput("development has to be true or false.")
        }
        let payload = try self.payload(body.present("payload"), deviceType)
        let owner = try self.owner(body, call)
        let former = try self.formerInstallation(deviceType, owner: owner, registrationID)
        // For MQTT the cloud chooses the registration ID and ignores the client's value.
        let name = deviceType == .mqtt ? nil : registrationID
        var record =
            former
            ?? self.newInstallation(
                deviceType, registrationID: name, owner: owner, isDevelopment: isDevelopment, now: call.now)
        if former != nil || payload != nil {
            record.owner = owner
            record.isDevelopment = isDevelopment
            record.payload = payload ?? record.payload
            self.state.save(record)
        }
        return .json(
            201, "InstallationCreationResponse",
            .object(all: ["installationID": record.id, "installationRegistrationID": record.registrationID]),
            fields: [self.location("installations/\(record.id)", call)])
    }

    func newInstallation(
        _ deviceType: InstallationRecord.DeviceType, registrationID: String?, owner: Principal,
        isDevelopment: Bool = false, now: Timestamp
    ) -> InstallationRecord {
        let record = InstallationRecord(
            id: self.identifiers.installation(), deviceType: deviceType,
            registrationID: registrationID ?? self.identifiers.unique(), owner: owner, isDevelopment: isDevelopment,
            createdAt: now, credential: deviceType == .mqtt ? self.newBrokerCredential() : nil)
        self.state.save(record)
        return record
    }

    func mqttInstallation(of owner: Principal) -> InstallationRecord? {
        self.state.installations(of: owner).first { $0.deviceType == .mqtt }
    }

    private func payload(
        _ value: JSONValue?, _ deviceType: InstallationRecord.DeviceType
    ) throws(KiiFailure) -> PushNetwork? {
        guard let value else { return nil }
        let format = InstallationRecord.payloads.first { $0.rawValue == value.string }
        guard deviceType == .mqtt, let format else {
            let known = InstallationRecord.payloads.map(\.rawValue).joined(separator: " or ")
            throw .invalidInput("payload has to be \(known), and is for MQTT alone.")
        }
        return format
    }

    private func owner(_ body: JSONValue, _ call: CloudCall) throws(KiiFailure) -> Principal {
        let (userID, thingID) = (body["userID"]?.string, body["thingID"]?.string)
        guard let caller = call.caller.principal else { return try self.principal(userID: userID, thingID: thingID) }
        guard body["userID"] == nil, body["thingID"] == nil else {
            throw .invalidInput("userID and thingID are for the administrator alone.")
        }
        return caller
    }

    private func formerInstallation(
        _ deviceType: InstallationRecord.DeviceType, owner: Principal, _ registrationID: String?
    ) throws(KiiFailure) -> InstallationRecord? {
        // On other networks than MQTT, the registration ID is unique: a new owner takes over the installation.
        if deviceType == .mqtt { return self.mqttInstallation(of: owner) }
        guard let registrationID, !registrationID.isEmpty else {
            throw .invalidInput("installationRegistrationID is needed for \(deviceType.rawValue).")
        }
        return self.state.installation(deviceType: deviceType, registrationID: registrationID)
    }

    /// The administrator may list all installations. Other callers may list their own installations and their things'
    /// installations.
    func listInstallations(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let (userID, thingID) = (call.target.query["userID"], call.target.query["thingID"])
        let records: [InstallationRecord]
        if userID == nil, thingID == nil {
            try self.require(call.caller == .admin, call, "Only the administrator may list all installations.")
            records = self.state.installations.values.sorted { $0.id < $1.id }
        } else {
            let owner = try self.principal(userID: userID, thingID: thingID)
            try self.require(self.mayAct(call.caller, for: owner), call, "Only the owner may list its installations.")
            records = self.state.installations(of: owner)
        }
        return .json(200, nil, ["installations": JSONValue(records.map { .object($0.description) })])
    }

    func showInstallation(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        .json(200, "InstallationRetrievalResponse", .object(try self.installation(call).description))
    }

    func deleteInstallation(_ call: CloudCall) throws(KiiFailure) {
        let record = try self.installation(call)
        self.state.remove(record)
        if let credential = record.credential { self.effects.revocations.append(credential.username) }
    }

    /// The path names the installation by its ID or by `{deviceType}:{installationRegistrationID}`.
    func installation(_ call: CloudCall) throws(KiiFailure) -> InstallationRecord {
        let text = call["installation"]
        let parts = text.split(separator: ":", maxSplits: 1).map { String($0) }
        let (record, missing): (InstallationRecord?, KiiFailure)
        if parts.count == 2, let deviceType = InstallationRecord.DeviceType(rawValue: parts[0]) {
            record = self.state.installation(deviceType: deviceType, registrationID: parts[1])
            missing = self.installationNotFound(deviceType: parts[0], registrationID: parts[1])
        } else {
            record = self.state.installations[text]
            missing = self.installationNotFound(id: text)
        }
        guard let record else { throw missing }
        try self.require(self.mayAct(call.caller, for: record.owner), call, "Only the owner may use its installation.")
        return record
    }
}
