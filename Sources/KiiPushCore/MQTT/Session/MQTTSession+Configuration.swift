extension MQTTSession {
    /// What a session needs to know before its first connection.
    package struct Configuration: Sendable, Hashable {
        /// Kii wants the endpoint's topic here.
        package var clientID: String
        package var username: String?
        package var password: Secret?
        /// The one filter that is subscribed to.
        package var topicFilter: String
        /// QoS 2 is never asked for; ``QoS/exactlyOnce`` is taken for ``QoS/atLeastOnce``.
        package var requestedQoS = QoS.atLeastOnce
        /// The time after a request in which the next PINGREQ is due. Zero or less switches it off, and with it the
        /// detection of a dead connection. CONNECT carries it in whole seconds, rounded up, 65,535 at most.
        package var keepAlive: Duration
        /// The time for CONNACK, and then for SUBACK, which has it anew after each message that comes first.
        package var connectTimeout: Duration
        /// How long PINGRESP may take, and how long after each message that comes first; `nil` for as long as ``keepAlive``,
        /// but 20 s at most.
        package var pingTimeout: Duration?
        /// How long a broker may take on one connection to send again what was not acknowledged on an earlier one. NATS
        /// waits 30 s before it sends again, and does not do so at once on reconnect.
        package var redeliveryWindow: Duration = .seconds(300)
        package var cleanSession = false
        package var protocolVersion = MQTTVersion.v3_1_1
        /// The largest packet that is taken whole; see ``FrameDecoder``.
        package var maximumPacketBytes = FrameDecoder.defaultMaximumPacketBytes
        /// The unproven acknowledgements at which a PINGREQ is sent to prove them, without waiting for the keep-alive.
        package var maximumUnprovenAcknowledgements = 1000
        /// Whether SUBSCRIBE is sent though the broker kept the session and this value saw it granted before.
        package var subscribesOnResume = true
        /// Whether the broker is known to hold a session of this client identifier, from an earlier process.
        package var expectsSession = false

        package init(
            clientID: String, topicFilter: String, keepAlive: Duration = .seconds(45),
            connectTimeout: Duration = .seconds(10), pingTimeout: Duration? = nil
        ) {
            self.clientID = clientID
            self.topicFilter = topicFilter
            self.keepAlive = keepAlive
            self.connectTimeout = connectTimeout
            self.pingTimeout = pingTimeout
        }

        /// How long bytes may go without the broker's machine having them: no longer than an answer of its broker's to
        /// PINGREQ, and never so short that a machine under load is taken for a dead one.
        package var sendTimeout: Duration { max(.seconds(5), self.answerTimeout) }

        /// ``keepAlive`` as MQTT can carry it; zero switches it off.
        var interval: Duration { min(max(self.keepAlive, .zero), .seconds(65_535)) }

        /// How long PINGRESP may take.
        var answerTimeout: Duration {
            self.pingTimeout ?? (self.interval == .zero ? .seconds(20) : min(.seconds(20), self.interval))
        }

        var connect: MQTTConnect {
            MQTTConnect(
                version: self.protocolVersion, clientID: self.clientID, cleanSession: self.cleanSession,
                keepAlive: UInt16((self.interval.wholeMillisecondsRoundedUp + 999) / 1000), username: self.username,
                password: self.password)
        }
    }
}
