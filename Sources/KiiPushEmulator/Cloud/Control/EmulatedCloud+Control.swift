import KiiPushCore

extension Route {
    static let controls: [Route] = [
        .control("GET", "app") { cloud, _ in cloud.showApp() },
        .control("PATCH", "app") { cloud, call throws(KiiFailure) in try cloud.changeApp(call) },
        .control("PATCH", "users/{user}") { cloud, call throws(KiiFailure) in
            var user = try cloud.user(call)
            user.isDisabled = try cloud.isDisabled(call)
            cloud.state.save(user)
            return .json(200, nil, .object(all: ["userID": user.id, "disabled": user.isDisabled]))
        },
        .control("PATCH", "things/{thing}") { cloud, call throws(KiiFailure) in
            var thing = try cloud.thing(call)
            thing.isDisabled = try cloud.isDisabled(call)
            cloud.state.save(thing)
            return .json(200, nil, .object(all: ["thingID": thing.id, "disabled": thing.isDisabled]))
        },
        .control("POST", "installations/{installation}/rotate") { cloud, call throws(KiiFailure) in
            try cloud.rotateInstallation(call)
        },
        .control("GET", "faults") { cloud, _ in cloud.showFaults() },
        .control("POST", "faults") { cloud, call throws(KiiFailure) in try cloud.addFault(call) },
        .control("DELETE", "faults") { cloud, _ in cloud.removeFaults() },
        .control("POST", "reset") { cloud, _ in cloud.reset() },
    ]
}

extension EmulatedCloud {
    func showApp() -> HTTPResponse { .json(200, nil, self.app.json(app: self.appID)) }

    mutating func changeApp(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let changed = try self.app.merging(ControlBody(call))
        if changed.requestLimit != self.app.requestLimit { self.requestWindow = RequestWindow() }
        self.app = changed
        return self.showApp()
    }

    func isDisabled(_ call: CloudCall) throws(KiiFailure) -> Bool {
        let body = try ControlBody(call, members: ["disabled"])
        guard let isDisabled = body["disabled"] else { throw body.failure(.missing, at: "disabled") }
        return try isDisabled.flag()
    }

    mutating func rotateInstallation(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let record = try self.installation(call)
        guard record.credential != nil else { throw .endpointNotFound }
        let renewed = self.renewEndpoint(of: record)
        return .json(200, nil, .object(all: ["installationID": renewed.id, "mqttTopic": renewed.mqttTopic]))
    }

    /// Removes everything but the app and its settings.
    mutating func reset() {
        self.effects.revocations = self.state.installations.values.compactMap { $0.credential?.username }.sorted()
        self.effects.isReset = true
        self.state.removeAll()
    }
}
