import KiiPushCore

/// Sending (kii-protocol section 6).
extension EmulatedCloud {
    mutating func sendToTopic(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let record = try self.existingTopic(call)
        try self.require(self.may(call.caller, .send, record), call, "No right to send to this topic.")
        let message = try SendRequest(call.object(of: "SendPushMessageRequest"))
        let payload = try self.checkedSize(
            self.composer(call).pushToUser(message, topic: record.topic, sender: call.caller)
        )
        for subscriber in self.state.subscribers(of: .topic(record.topic)) {
            self.publish(payload, to: subscriber, message)
        }
        return self.sent()
    }

    /// Direct push: the administrator to anybody, a user to themselves.
    mutating func sendToUser(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let user = try self.user(call)
        try self.require(self.mayAct(call.caller, for: .user(user.id)), call, "Only the administrator may do this.")
        let message = try SendRequest(call.object(of: "SendPushMessageRequest"))
        let payload = try self.checkedSize(
            self.composer(call).directPush(message, recipient: user.id, sender: call.caller)
        )
        self.publish(payload, to: .user(user.id), message)
        return self.sent()
    }

    /// Push to app: tells the bucket's subscribers what became of an object.
    mutating func announce(
        _ event: PushEvent,
        of object: ObjectReference,
        modifiedAt: Timestamp? = nil,
        _ call: CloudCall
    ) {
        self.announce(PushToApp(event: event, bucket: object.bucket, objectID: object.id, modifiedAt: modifiedAt), call)
    }

    /// Push to app: tells the bucket's subscribers what became of it.
    mutating func announce(_ event: PushEvent, of bucket: Bucket, _ call: CloudCall) {
        self.announce(PushToApp(event: event, bucket: bucket), call)
    }

    private mutating func announce(_ push: PushToApp, _ call: CloudCall) {
        let payload = self.composer(call).pushToApp(push, sender: call.caller).serialized()
        for subscriber in self.state.subscribers(of: .bucket(push.bucket)) {
            for installation in self.state.installations(of: subscriber) {
                guard let topic = installation.mqttTopic else { continue }
                self.effects.publications.append(Publication(topic: topic, payload: payload))
            }
        }
    }

    private func composer(_ call: CloudCall) -> PushComposer { PushComposer(appID: self.appID, now: call.now) }

    private func checkedSize(_ payload: JSONValue) throws(KiiFailure) -> [UInt8] {
        let bytes = payload.serialized()
        guard bytes.count <= SendRequest.maximumMQTTBytes else {
            throw .invalidInput("The message is larger than \(SendRequest.maximumMQTTBytes) bytes.")
        }
        return bytes
    }

    private mutating func publish(_ payload: [UInt8], to recipient: Principal, _ message: SendRequest) {
        guard message.isForMQTT else { return }
        for installation in self.state.installations(of: recipient) {
            let isWanted = installation.isDevelopment ? message.sendToDevelopment : message.sendToProduction
            guard isWanted, let topic = installation.mqttTopic else { continue }
            self.effects.publications.append(Publication(topic: topic, payload: payload))
        }
    }

    private mutating func sent() -> HTTPResponse {
        .json(
            200,
            "SendPushMessageResponse",
            .object([("pushMessageID", JSONValue(self.identifiers.unique()))])
        )
    }
}
