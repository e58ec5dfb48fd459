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
        package var requestedQoS: QoS
        /// The time after a request in which the next PINGREQ is due. Zero or less switches it off, and with it the
        /// detection of a dead connection. CONNECT carries it in whole seconds, rounded up, 65,535 at most.
        package var keepAlive: Duration
        /// How long CONNACK may take, and SUBACK after it.
        package var connectTimeout: Duration
        /// How long PINGRESP may take, and how long after each message that comes first; `nil` for as long as ``keepAlive``,
        /// but 20 s at most.
        package var pingTimeout: Duration?
        /// How long a broker may take on one connection to send again what was not acknowledged on an earlier one.
        ///
        /// NATS waits 30 s for an acknowledgement before it sends again, and does not do so at once on reconnect.
        package var redeliveryWindow: Duration
        package var cleanSession: Bool
        package var protocolVersion: MQTTVersion
        /// The largest packet that is taken whole; see ``FrameDecoder``.
        package var maximumPacketBytes: Int
        /// The unproven acknowledgements at which a PINGREQ is sent to prove them, without waiting for the keep-alive.
        package var maximumUnprovenAcknowledgements: Int
        /// Whether SUBSCRIBE is sent though the broker kept the session and this value saw it granted before.
        package var subscribesOnResume: Bool
        /// Whether the broker is known to hold a session of this client identifier, from an earlier process.
        package var expectsSession: Bool

        package init(
            clientID: String,
            username: String? = nil,
            password: Secret? = nil,
            topicFilter: String,
            requestedQoS: QoS = .atLeastOnce,
            keepAlive: Duration = .seconds(60),
            connectTimeout: Duration = .seconds(10),
            pingTimeout: Duration? = nil,
            redeliveryWindow: Duration = .seconds(300),
            cleanSession: Bool = false,
            protocolVersion: MQTTVersion = .v3_1_1,
            maximumPacketBytes: Int = FrameDecoder.defaultMaximumPacketBytes,
            maximumUnprovenAcknowledgements: Int = 1000,
            subscribesOnResume: Bool = true,
            expectsSession: Bool = false
        ) {
            self.clientID = clientID
            self.username = username
            self.password = password
            self.topicFilter = topicFilter
            self.requestedQoS = requestedQoS
            self.keepAlive = keepAlive
            self.connectTimeout = connectTimeout
            self.pingTimeout = pingTimeout
            self.redeliveryWindow = redeliveryWindow
            self.cleanSession = cleanSession
            self.protocolVersion = protocolVersion
            self.maximumPacketBytes = maximumPacketBytes
            self.maximumUnprovenAcknowledgements = maximumUnprovenAcknowledgements
            self.subscribesOnResume = subscribesOnResume
            self.expectsSession = expectsSession
        }

        /// How long bytes may go without the broker's machine having them: no longer than an answer of its broker's to
        /// PINGREQ, and never so short that a machine under load is taken for a dead one.
        package var sendTimeout: Duration { max(.seconds(5), self.answerTimeout) }

        /// How long PINGRESP may take.
        var answerTimeout: Duration {
            let interval = min(max(self.keepAlive, .zero), .seconds(65_535))
            return self.pingTimeout ?? (interval == .zero ? .seconds(20) : min(.seconds(20), interval))
        }

        /// The keep-alive as CONNECT says it.
        var keepAliveSeconds: UInt16 {
            guard self.keepAlive > .zero else { return 0 }
            return UInt16(min((self.keepAlive.wholeMillisecondsRoundedUp + 999) / 1000, 65_535))
        }

        var connect: MQTTConnect {
            MQTTConnect(
                version: self.protocolVersion,
                clientID: self.clientID,
                cleanSession: self.cleanSession,
                keepAlive: self.keepAliveSeconds,
                username: self.username,
                password: self.password
            )
        }
    }
}
