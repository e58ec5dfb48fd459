extension BrokerLink {
    package struct End: Sendable {
        package enum Cause: Sendable {
            case transport(TransportError)
            case session(MQTTSession.Event)
        }

        package var cause: Cause
        /// The time since SUBACK, or since the first message if it came earlier. `nil` if neither came.
        package var connectedFor: Duration?
        /// Whether the broker had kept the earlier session, or could not say so (MQTT 3.1).
        package var hadSession: Bool
        var wasSubscribed: Bool
        /// Whether the machine had slept, and the broker was silent since. The sleep then probably caused the end.
        var wasProbing: Bool
    }
}

extension BrokerLink.End {
    var refusesEndpoint: Bool {
        switch self.cause {
        case .session(.connectionRefused(let code)): code.refusesCredentials
        case .session(.subscriptionRefused): true
        case .session, .transport: false
        }
    }

    /// Whether the broker answered, and not only a server in front of it. Also `true` if CONNECT cannot be encoded,
    /// since no other port would help; `nil` if the host name was not found.
    var wasReached: Bool? {
        if self.connectedFor != nil { return true }
        return switch self.cause {
        case .session(.connectionRefused), .session(.subscriptionRefused), .session(.unsendable): true
        case .transport(let error) where error.code == .nameNotResolved: nil
        case .session, .transport: false
        }
    }

    var refusesSubscription: Bool {
        if case .session(.subscriptionRefused) = self.cause { true } else { false }
    }

    /// libcurl's error about this side's settings, such as an authority file without certificates. `nil` for other
    /// errors, also for an invalid host in the endpoint, which the cloud may correct.
    var configurationError: TransportError? {
        guard case .transport(let error) = self.cause, error.curlCode != nil else { return nil }
        return error.code == .invalidConfiguration ? error : nil
    }

    var isOfShutdown: Bool {
        if case .transport(let error) = self.cause { error.code == .shutDown } else { false }
    }

    package var loss: ReconnectPolicy.Loss {
        if self.wasProbing { return .noticedHere }
        return switch self.cause {
        case .session where self.refusesEndpoint: .endpointRefused
        case .session(.protocolError): .protocolBroken
        case .session(.keepAliveMissed): .noticedHere
        case .session(.timedOut) where self.connectedFor != nil: .noticedHere
        case .session: .attemptFailed
        case .transport where self.connectedFor == nil: .attemptFailed
        // Messages came without SUBACK. The link may be slow; there is no sign of another receiver.
        case .transport where !self.wasSubscribed: .noticedHere
        case .transport(let error) where error.code == .webSocketFailed: .protocolBroken
        case .transport(let error): error.code == .connectionLost ? .closedByPeer : .noticedHere
        }
    }

    func reason(_ pattern: ClosurePattern.Kind) -> String {
        switch pattern {
        case .unclear: self.reason
        case .kicked(let times):
            "the broker accepts this client and closes at once, \(times) times in a row by now; its log says why"
        case .timeLimit(let limit):
            "\(self.reason); each of the last connections lasted \(limit.components.seconds) s: something on the way "
                + "limits their time, and if it is their idle time, a shorter keepalive helps"
        case .takenOver: "\(self.reason); another receiver seems to use this installation"
        }
    }

    var reason: String {
        switch self.cause {
        case .transport(let error): error.description
        case .session(.connectionRefused(let code)): code.description
        case .session(.subscriptionRefused): "the broker refused the subscription"
        case .session(.keepAliveMissed): "the broker did not answer in time (keepalive)"
        case .session(.timedOut(let type)): "the broker sent no \(type.name) in time"
        case .session(.protocolError(let error)) where error.packetType == .publish:
            "the broker broke the protocol: \(error.fault). It sends that message at each connection until it is removed "
                + "there"
        case .session(.protocolError(let error)): "the broker broke the protocol: \(error)"
        case .session(.unsendable(let error)): "the broker cannot be sent what the endpoint names: \(error)"
        case .session(let event): "\(event)"
        }
    }

    var error: any Error {
        switch self.cause {
        case .transport(let error): error
        case .session(.subscriptionRefused): PushAgentError.subscriptionRefused
        case .session: TransportError(.connectionLost, detail: self.reason)
        }
    }
}
