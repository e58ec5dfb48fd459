extension PushAgent {
    package enum BrokerAnswer: Sendable {
        case subscribed
        /// CONNACK refused the connection, or the MQTT session failed in another way than `notSubscribed`.
        case refused(reason: String, isOfCredentials: Bool)
        /// SUBACK refused the subscription, or did not come.
        case notSubscribed(reason: String)
        case failed(TransportError)
    }

    /// Connects and subscribes like ``run()``, with the same locks; calls `body`; disconnects. The inbox stores
    /// messages that arrive meanwhile, for the next ``run()``. Throws ``PushAgentError/inbox(reason:)`` if the inbox
    /// would be in memory.
    package func probeBroker(whileSubscribed body: (PushEvent.Connection) async -> Void) async throws -> BrokerAnswer {
        try await self.exclusively {
            try self.enrolment.load()
            let core = try await self.runtime.open()
            guard core.isDurable else {
                throw PushAgentError.inbox(reason: "it could not be kept in a file, and messages might be lost")
            }
            let endpoint = try await self.enrolment.endpoint(refreshing: true)
            let lock = try self.lockInstallation(endpoint)
            defer { withExtendedLifetime(lock) {} }
            let events = self.events
            let session = try await AgentSession(agent: self, core: core, endpoint: endpoint)
            let end = try await session.openOnce(endpoint) {
                for await case .connected(let connection) in events {
                    await body(connection)
                    break
                }
            }
            return end.map { BrokerAnswer($0) } ?? .subscribed
        }
    }
}

extension PushAgent.BrokerAnswer {
    fileprivate init(_ end: BrokerLink.End) {
        switch end.cause {
        case .transport(let error): self = .failed(error)
        case .session(.connectionRefused(let code)):
            self = .refused(reason: end.reason, isOfCredentials: code.refusesCredentials)
        case .session(.subscriptionRefused), .session(.timedOut(.suback)): self = .notSubscribed(reason: end.reason)
        case .session: self = .refused(reason: end.reason, isOfCredentials: false)
        }
    }
}

extension PushRuntime {
    /// Calls `send`, waits for a stored message that contains `text`, and marks the message as done, so that no handler
    /// gets it. Returns `false` if the task is cancelled, or if the mark is not written within the shutdown grace.
    package func takeMessage(containing text: String, afterSending send: () async throws -> Void) async throws -> Bool {
        _ = try await self.open()
        let reader = try InboxReader(stateDirectory: self.configuration.stateDirectory)
        var last = try reader.lastMessageID()
        try await send()
        while !Task.isCancelled {
            let page = try reader.messages([.waiting], after: last)
            for message in page {
                last = message.messageID
                guard String(decoding: message.payload, as: UTF8.self).contains(bytesOf: text) else { continue }
                let done = MessageChange(sequence: message.messageID, installation: 0, verdict: .done(.noData))
                try await self.onPipeline { $0.record(done) }
                return await self.wait(for: .writing, within: self.configuration.shutdownGrace)
            }
            if page.isEmpty { try? await Task.sleep(for: .milliseconds(10)) }
        }
        return false
    }
}
