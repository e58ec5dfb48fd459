extension MQTTSession {
    package struct Configuration: Sendable, Hashable {
        /// The client identifier; Kii requires the endpoint's topic.
        package var clientID: String
        package var username: String?
        package var password: Secret?
        package var topicFilter: String
        /// The QoS to request. The session never requests QoS 2: ``QoS/exactlyOnce`` counts as ``QoS/atLeastOnce``.
        package var requestedQoS = QoS.atLeastOnce
        /// The time from one request to the next PINGREQ. Zero or less switches off PINGREQ, and with it the detection
        /// of a dead connection. CONNECT carries it in whole seconds, rounded up, at most 65,535.
        package var keepAlive: Duration
        /// The limit for CONNACK, then for SUBACK. Each message that arrives before SUBACK restarts the limit.
        package var connectTimeout: Duration
        /// The limit for PINGRESP, restarted by each message that arrives before it. `nil` means ``keepAlive``, at most
        /// 20 s.
        package var pingTimeout: Duration?
        /// The time that a broker has, on each connection, to redeliver messages whose acknowledgement it did not get
        /// on an earlier one. NATS does not redeliver at once on reconnect, but after 30 s.
        package var redeliveryWindow: Duration = .seconds(300)
        package var cleanSession = false
        package var protocolVersion = MQTTVersion.v3_1_1
        /// The largest packet that the session reads whole; see ``FrameDecoder``.
        package var maximumPacketBytes = FrameDecoder.defaultMaximumPacketBytes
        /// The number of unproven acknowledgements at which the session sends an early PINGREQ to prove them.
        package var maximumUnprovenAcknowledgements = 1000
        /// Whether to send SUBSCRIBE even if the broker kept the session and has granted the subscription in it.
        package var subscribesOnResume = true
        /// Whether to expect that the broker still holds a session from an earlier process.
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

        /// The longest that sent bytes may stay unacknowledged by the broker's kernel: the limit for PINGRESP, but at
        /// least 5 s, so that a loaded machine does not count as dead.
        package var sendTimeout: Duration { max(.seconds(5), self.answerTimeout) }

        /// ``keepAlive`` limited to what MQTT can carry; zero switches it off.
        var interval: Duration { min(max(self.keepAlive, .zero), .seconds(65_535)) }

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
