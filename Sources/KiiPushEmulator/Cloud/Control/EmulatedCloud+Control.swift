import KiiPushCore

extension Route {
    static let controls: [Route] = [
        .control("GET", "app", EmulatedCloud.showApp),
        .control("PATCH", "app", EmulatedCloud.changeApp),
        .control("PATCH", "users/{user}", EmulatedCloud.setUserDisabled),
        .control("PATCH", "things/{thing}", EmulatedCloud.setThingDisabled),
        .control("POST", "installations/{installation}/rotate", EmulatedCloud.rotateInstallation),
        .control("GET", "faults", EmulatedCloud.showFaults),
        .control("POST", "faults", EmulatedCloud.addFault),
        .control("DELETE", "faults", EmulatedCloud.deleteFaults),
        .control("POST", "reset", EmulatedCloud.reset),
    ]
}

extension EmulatedCloud {
    func showApp(_ call: CloudCall) -> HTTPResponse { .json(200, nil, self.app.json(app: self.appID)) }

    func changeApp(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let changed = try self.app.merging(ControlBody(call))
        if changed.requestLimit != self.app.requestLimit { self.requestWindow = RequestWindow() }
        self.app = changed
        return self.showApp(call)
    }

    func setUserDisabled(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        var user = try self.user(call)
        user.isDisabled = try self.disabledMember(of: call)
        self.state.save(user)
        return .json(200, nil, .object(all: ["userID": user.id, "disabled": user.isDisabled]))
    }

    func setThingDisabled(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        var thing = try self.thing(call)
        thing.isDisabled = try self.disabledMember(of: call)
        self.state.save(thing)
        return .json(200, nil, .object(all: ["thingID": thing.id, "disabled": thing.isDisabled]))
    }

    private func disabledMember(of call: CloudCall) throws(KiiFailure) -> Bool {
        let body = try ControlBody(call, members: ["disabled"])
        guard let isDisabled = body["disabled"] else { throw body.failure(.missing, at: "disabled") }
        return try isDisabled.flag()
    }

    func rotateInstallation(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let record = try self.installation(call)
        guard record.credential != nil else { throw .endpointNotFound }
        let renewed = self.renewEndpoint(of: record)
        return .json(200, nil, .object(all: ["installationID": renewed.id, "mqttTopic": renewed.mqttTopic]))
    }

    /// Removes the stored records, but not the app and its settings. ``commit(_:)`` removes faults and logged messages.
    func reset(_ call: CloudCall) {
        self.effects.revocations = self.state.installations.values.compactMap { $0.credential?.username }.sorted()
        self.effects.isReset = true
        self.state.removeAll()
    }
}
