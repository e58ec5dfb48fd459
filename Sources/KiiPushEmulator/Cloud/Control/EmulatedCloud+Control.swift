import KiiPushCore

extension Route {
    /// What the emulator is told to do, below `/__kii`: for its administrator alone.
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

/// The app's settings, its principals' switches, and the way back to an empty cloud.
extension EmulatedCloud {
    func showApp() -> HTTPResponse { .json(200, nil, self.app.json(app: self.appID)) }

    mutating func changeApp(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let changed = try self.app.merging(ControlBody(call))
        // A new limit counts from its own first request on.
        if changed.requestLimit != self.app.requestLimit { self.requestWindow = RequestWindow() }
        self.app = changed
        return self.showApp()
    }

    func isDisabled(_ call: CloudCall) throws(KiiFailure) -> Bool {
        let body = try ControlBody(call, members: ["disabled"])
        guard let isDisabled = body["disabled"] else { throw body.failure(.missing, at: "disabled") }
        return try isDisabled.flag()
    }

    /// Puts new credentials and a new topic in the place of the old ones, which the broker forgets at once.
    mutating func rotateInstallation(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let record = try self.installation(call)
        guard record.credential != nil else { throw .endpointNotFound }
        let renewed = self.renewEndpoint(of: record)
        return .json(200, nil, .object(all: ["installationID": renewed.id, "mqttTopic": renewed.mqttTopic]))
    }

    /// Forgets users, things, groups, tokens, installations, topics with their rights, buckets with their objects,
    /// subscriptions, commands, messages, faults and what a request limit has counted; the app and its settings stay.
    mutating func reset() {
        self.effects.revocations = self.state.installations.values.compactMap { $0.credential?.username }.sorted()
        self.effects.isReset = true
        self.state.removeAll()
    }
}
