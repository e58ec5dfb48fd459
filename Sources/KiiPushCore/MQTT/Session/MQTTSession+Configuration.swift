extension MQTTSession {
    package struct Configuration: Sendable, Hashable {
        /// The client identifier. Kii requires the endpoint's topic.
        package var clientID: String
        package var username: String?
        package var password: Secret?
        package var topicFilter: String
        /// The QoS to request. QoS 2 counts as QoS 1.
        package var requestedQoS = QoS.atLeastOnce
        /// The time from one request to the next PINGREQ. Zero or less disables regular PINGREQ, and with it MQTT's
        /// detection of a dead connection. CONNECT carries whole seconds, rounded up, at most 65,535.
        package var keepAlive: Duration
        /// The time limit for CONNACK, then for SUBACK. Each message before SUBACK restarts the limit, for at most
        /// three keep-alives more.
        package var connectTimeout: Duration
        /// The time limit for PINGRESP. Messages restart this limit as they restart ``connectTimeout``. `nil`:
        /// ``keepAlive``, at most 20 s.
        package var pingTimeout: Duration?
        /// The time that the broker has on each connection to redeliver unacknowledged messages of earlier connections.
        /// NATS redelivers only after 30 s.
        package var redeliveryWindow: Duration = .seconds(300)
        package var cleanSession = false
        package var protocolVersion = MQTTVersion.v3_1_1
        /// The largest packet in bytes, without its fixed header, that the session reads whole.
        package var maximumPacketBytes = FrameDecoder.defaultMaximumPacketBytes
        /// At this number of acknowledgements since the last PINGREQ, the session sends an early PINGREQ.
        package var maximumUnprovenAcknowledgements = 1000
        /// Whether the broker should still have the session of an earlier run of the program.
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

        /// The time for the broker's kernel to acknowledge sent bytes. At least 5 s, so that a loaded machine does not
        /// count as dead.
        package var sendTimeout: Duration { max(.seconds(5), self.answerTimeout) }

        /// ``keepAlive``, limited to MQTT's range.
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
