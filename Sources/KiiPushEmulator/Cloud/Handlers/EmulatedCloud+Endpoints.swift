import KiiPushCore

extension EmulatedCloud {
    /// A `503` has the waiting time twice, as a header field and as a member, since some clients read only one of
    /// them.
    func showEndpoint(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let record = try self.installation(call)
        guard record.credential != nil else { throw .endpointNotFound }
        let ready = record.createdAt + self.app.endpointDelay
        guard ready <= call.now else {
            throw KiiFailure(503, "MQTT_ENDPOINT_NOT_READY", "The endpoint is not ready yet.")
                .retryAfter(call.now.secondsRoundedUp(to: ready))
        }
        let (endpoint, seconds) = try self.handOutEndpoint(of: record, now: call.now)
        let field = HTTPField("X-MQTT-TTL", "\(seconds)")
        return .json(200, "MQTTEndpointResponse", .object(endpoint), fields: [field])
    }

    /// An endpoint's lifetime begins with the first request for the endpoint. After its end, the next request creates a
    /// new topic and new credentials.
    func handOutEndpoint(
        of record: InstallationRecord, now: Timestamp
    ) throws(KiiFailure) -> (JSONMembers, seconds: Int64) {
        var record = record
        if let end = record.endpointExpiresAt, end <= now { record = self.renewEndpoint(of: record) }
        if record.endpointExpiresAt == nil, let lifetime = self.app.mqttTTL {
            record.endpointExpiresAt = now + lifetime
            self.state.save(record)
        }
        guard let credential = record.credential, let topic = record.mqttTopic else { throw .endpointNotFound }
        self.effects.grants.append(credential)
        // A captured answer of Kii's cloud has this lifetime for an endpoint without an end.
        let seconds = record.endpointExpiresAt.map { now.secondsRoundedUp(to: $0) } ?? EmulatedCloud.unlimitedSeconds
        let ports = self.settings.brokerPorts
        let webSockets = JSONMembers(present: [
            "portWS": ports.webSocket == 0 ? Int?.none : Int(ports.webSocket),
            "portWSS": ports.webSocketTLS == 0 ? Int?.none : Int(ports.webSocketTLS),
        ])
        let endpoint = JSONMembers(all: [
            "installationID": record.id, "username": credential.username, "password": credential.password.reveal(),
            "mqttTopic": topic, "host": "127.0.0.1", "portTCP": Int(ports.tcp), "portSSL": Int(ports.tls),
            "X-MQTT-TTL": seconds,
        ])
        return (endpoint + webSockets, seconds)
    }

    func renewEndpoint(of record: InstallationRecord) -> InstallationRecord {
        var renewed = record
        if let former = record.credential { self.effects.revocations.append(former.username) }
        renewed.credential = self.newBrokerCredential()
        renewed.endpointExpiresAt = nil
        self.state.save(renewed)
        return renewed
    }

    /// The lengths fit the smallest buffers of known clients, those of Kii's C SDK ebisu: 63 bytes for each text, 127
    /// for the password.
    func newBrokerCredential() -> BrokerCredential {
        BrokerCredential(username: self.identifiers.secret(24), password: Secret(self.identifiers.secret(32)))
    }
}
