extension PushAgent {
    /// What the broker said to an agent that connected to see what it says.
    package enum BrokerAnswer: Sendable {
        /// The subscription stood.
        case subscribed
        /// CONNACK says no, or did not come.
        case refused(reason: String, isOfCredentials: Bool)
        /// SUBACK says no, or did not come.
        case notSubscribed(reason: String)
        /// The connection did not come about, or broke.
        case failed(TransportError)
    }

    /// Connects as the agent would, waits for the subscription, runs `body`, and disconnects.
    ///
    /// It is the receiver of the installation meanwhile, with all locks of one: where another process holds them it
    /// connects to nothing. What the broker delivers meanwhile is stored and waits for the next ``run()``; no handler is
    /// called.
    ///
    /// - Throws: ``PushAgentError``, among it `stateDirectoryInUse` and `installationInUse`, and `inbox` where messages
    ///   could be kept in memory only; ``KiiError`` and ``TransportError`` when the cloud does not give the endpoint.
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
    /// Has a message sent, waits until one that holds `text` is in the inbox, and marks that one as done, so that no
    /// handler ever gets it: the test message of ``PushAgent/probeBroker(whileSubscribed:)``.
    ///
    /// - Returns: whether it came before the task was cancelled.
    /// - Throws: what `send` throws; ``InboxAccessError``; ``PushAgentError``; `TransportError` with code `shutDown`.
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
