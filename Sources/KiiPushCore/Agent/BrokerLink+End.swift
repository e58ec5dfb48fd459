extension BrokerLink {
    /// How a connection ended.
    struct End: Sendable {
        enum Cause: Sendable {
            /// The stream ended or never came about.
            case transport(TransportError)
            /// The session ended it, for this reason.
            case session(MQTTSession.Event)
        }

        var cause: Cause
        /// How long the subscription stood; `nil` if it never did.
        var connectedFor: Duration?
        /// Whether the broker had kept the session of the connection before, or cannot say.
        var hadSession: Bool
        /// Whether the machine had slept and the broker said nothing since: however it ended, the sleep was the cause.
        var wasProbing: Bool
    }
}

extension BrokerLink.End {
    /// Whether CONNACK said that the endpoint's credentials are not good (any more).
    var refusesCredentials: Bool {
        if case .session(.connectionRefused(let code)) = self.cause { code.refusesCredentials } else { false }
    }

    /// Whether it is the runtime that ended, and not the connection.
    var isOfShutdown: Bool {
        if case .transport(let error) = self.cause { error.code == .shutDown } else { false }
    }

    var loss: ReconnectPolicy.Loss {
        if self.wasProbing { return .noticedHere }
        return switch self.cause {
        case .session(.connectionRefused(let code)) where code.refusesCredentials: .credentialsRefused
        case .session(.keepAliveMissed): .noticedHere
        case .session: .attemptFailed
        case .transport where self.connectedFor == nil: .attemptFailed
        case .transport(let error): error.code == .connectionLost ? .closedByPeer : .noticedHere
        }
    }

    /// Why it ended, and what that looks like together with the ends before it.
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
        case .session(.timedOut(let type)): "the broker sent no \(type) in time"
        case .session(.protocolError(let error)): "the broker broke the protocol: \(error)"
        case .session(let event): "\(event)"
        }
    }

    /// What ``PushAgent/register(replacing:)`` throws.
    var error: any Error {
        switch self.cause {
        case .transport(let error): error
        case .session(.subscriptionRefused): PushAgentError.subscriptionRefused
        case .session: TransportError(.connectionLost, detail: self.reason)
        }
    }
}
