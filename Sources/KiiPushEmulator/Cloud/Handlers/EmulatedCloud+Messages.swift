import KiiPushCore

extension EmulatedCloud {
    func sendToTopic(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let record = try self.existingTopic(call)
        try self.require(self.may(call.caller, .send, record), call, "No right to send to this topic.")
        return try self.send(to: .topic(record.topic), self.recipients(of: .topic(record.topic)), call)
    }

    func sendToUser(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let user = try self.ownUser(call, "Only the administrator may do this.")
        return try self.send(to: .user(user.id), [.user(user.id)], call)
    }

    private func send(
        to recipient: PushComposer.Recipient, _ principals: [Principal], _ call: CloudCall
    ) throws(KiiFailure) -> HTTPResponse {
        let send = try SendRequest(call.object(of: "SendPushMessageRequest"), isStrict: self.settings.isStrict)
        for network in PushNetwork.allCases where send.sections.isEnabled(network) {
            if let refusal = self.app.refusal(of: network) { throw refusal }
        }
        let renderings = self.composer(call).renderings(of: send, to: recipient, sender: call.caller)
        for rendering in renderings {
            guard let limit = rendering.network.maximumBytes, rendering.countedBytes > limit else { continue }
            throw .invalidInput("The message for \(rendering.network.rawValue) is larger than \(limit) bytes.")
        }
        let (kind, source) = (recipient.messageKind, recipient.sourcePath)
        let message = self.deliver(kind, source, renderings, to: principals, call) {
            send.has($0.isDevelopment ? .sendToDevelopment : .sendToProduction)
        }
        return .json(200, "SendPushMessageResponse", ["pushMessageID": JSONValue(message.id)])
    }

    func announce(
        _ event: PushEvent, of object: ObjectReference, modifiedAt: Timestamp? = nil, _ call: CloudCall
    ) {
        self.announce(PushToApp(event: event, bucket: object.bucket, objectID: object.id, modifiedAt: modifiedAt), call)
    }

    func announce(_ push: PushToApp, _ call: CloudCall) {
        let recipients = self.recipients(of: .bucket(push.bucket))
        guard !recipients.isEmpty else { return }
        let settings = self.app
        let renderings = self.composer(call).renderings(of: push, sender: call.caller)
            .filter { settings.refusal(of: $0.network) == nil }
        self.deliver(.pushToApp, push.sourcePath, renderings, to: recipients, call) { _ in true }
    }

    private func composer(_ call: CloudCall) -> PushComposer { PushComposer(appID: self.appID, now: call.now) }

    @discardableResult
    func deliver(
        _ kind: LoggedMessage.Kind, _ sourcePath: String, _ renderings: [PushRendering], to principals: [Principal],
        _ call: CloudCall, where isWanted: (InstallationRecord) -> Bool
    ) -> LoggedMessage {
        var networks: [InstallationRecord.DeviceType: PushRendering] = [:]
        // FCM and GCM both serve Android. FCM comes after GCM in `renderings`, so FCM's rendering replaces GCM's.
        for rendering in renderings where !rendering.isDryRun { networks[rendering.network.deviceType] = rendering }
        var deliveries: [PushNetwork: [String]] = [:]
        for principal in principals {
            for installation in self.state.installations(of: principal) where isWanted(installation) {
                // An MQTT installation with the payload `apns` simulates an Apple device. It gets the message in
                // Apple's format, or nothing.
                let wanted = installation.payload == .apns ? PushNetwork.apns.deviceType : installation.deviceType
                guard let rendering = networks[wanted] else { continue }
                deliveries[rendering.network, default: []].append(installation.id)
                guard let topic = installation.mqttTopic else { continue }
                self.effects.publications.append(MQTTPublish(topic: topic, payload: rendering.message))
            }
        }
        let message = LoggedMessage(
            id: self.identifiers.unique(), kind: kind, sourcePath: sourcePath, sender: call.caller, sentAt: call.now,
            renderings: renderings, deliveries: deliveries)
        self.effects.messages.append(message)
        return message
    }
}
