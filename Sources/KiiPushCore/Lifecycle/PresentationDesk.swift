/// Passes messages to the presenter, and the user's reactions to delivery.
package final class PresentationDesk: Sendable {
    private struct State {
        var reacted: Reacted?
        var installations: [String: Int64] = [:]
        var outstanding: Set<NotificationRequest.Key> = []
        var answered: Set<NotificationRequest.Key>?
    }

    /// Passes a reaction to delivery. Returns false if the event loop has ended; the next process then shows the message
    /// again.
    package typealias Reacted = @Sendable (Reaction, _ sequence: Int64, _ installation: Int64) -> Bool

    let presenter: (any NotificationPresenter)?
    private let lifecycle: AgentLifecycle?
    private let state = Locked(State())

    package init(presenter: (any NotificationPresenter)?, lifecycle: AgentLifecycle?) {
        self.presenter = presenter
        self.lifecycle = lifecycle
    }

    package func attach(installations: [(key: Int64, id: String)], _ reacted: @escaping Reacted) {
        self.state.withLock { state in
            state.reacted = reacted
            for (key, id) in installations { state.installations[id] = key }
        }
    }

    func alert(for message: ReceivedMessage) -> NotificationAlert? {
        self.presenter.map { $0.alert(for: message) } ?? message.content?.alert
    }

    /// If `isResting`, the message waits for the user's reaction, and its handler is not called now. Returns whether
    /// the presenter shows the message; also false if the presenter already has the message.
    func present(
        _ message: ReceivedMessage, _ alert: NotificationAlert?, _ key: NotificationRequest.Key, receivedAt: Timestamp,
        isResting: Bool, again: Bool = false
    ) -> Bool {
        guard let presenter,
            let request = NotificationRequest(
                key: key, message: message, alert: alert, receivedAt: receivedAt, wasPresentedBefore: again,
                respond: { [weak self] response in
                    self?.answered(response, message, key, receivedAt: receivedAt, isResting: isResting) ?? false
                })
        else { return false }
        // The key is recorded before `present`, since the answer may come during that call. If the key was recorded
        // before, the presenter has the message already, perhaps from a call that did not return in time.
        guard self.state.withLock({ state in state.outstanding.insert(key).inserted }) else { return false }
        if presenter.present(request) == .presented { return true }
        request.withdraw()
        self.state.withLock { state in _ = state.outstanding.remove(key) }
        return false
    }

    private func answered(
        _ response: PresentationResponse, _ message: ReceivedMessage, _ key: NotificationRequest.Key,
        receivedAt: Timestamp, isResting: Bool
    ) -> Bool {
        let (reacted, installation) = self.state.withLock { state in
            state.outstanding.remove(key)
            state.answered?.insert(key)
            return (state.reacted, state.installations[key.installationID])
        }
        guard let reacted, let installation else { return false }
        switch response {
        // The handler was called already, so the answer decides nothing.
        case .dismissed where !isResting, .expired where !isResting, .unavailable where !isResting: return true
        case .dismissed, .expired: return reacted(.dismissed, key.messageID, installation)
        case .unavailable: return reacted(.withdrawn, key.messageID, installation)
        case .opened(let action):
            if action.opensProgram { self.lifecycle?.userDidOpen(message) }
            let stored = StoredMessage(
                sequence: key.messageID, installation: installation, topic: "", payload: message.payloadBytes,
                receivedAt: receivedAt)
            return reacted(.opened(stored, by: action), key.messageID, installation)
        }
    }

    /// Records answers while the store reads the messages of the agent's earlier runs. `restore` omits answered
    /// messages.
    func beginRestoring() { self.state.withLock { $0.answered = [] } }
    func endRestoring() { self.state.withLock { $0.answered = nil } }

    /// Presents messages that an earlier run of the agent presented without an answer. The message that launched the
    /// program goes to its handler instead, as does a message that cannot be presented.
    func restore(_ messages: [StoredMessage], installationID: String) {
        guard let reacted = self.state.withLock({ $0.reacted }) else { return }
        for stored in messages {
            let key = NotificationRequest.Key(installationID: installationID, messageID: stored.sequence)
            let isKnown = self.state.withLock { state in
                state.outstanding.contains(key) || state.answered?.contains(key) == true
            }
            guard !isKnown else { continue }
            if let options = self.lifecycle?.launchOptions, options.names(key) {
                let reaction = options.userAction.map { Reaction.opened(stored, by: $0) } ?? .withdrawn
                _ = reacted(reaction, stored.sequence, stored.installation)
                continue
            }
            // If a message cannot be decoded, delivery makes it a dead letter.
            let message = try? ReceivedMessage(payload: stored.payload)
            let isPresented = message.map { message in
                self.present(
                    message, self.alert(for: message), key, receivedAt: stored.receivedAt, isResting: true, again: true)
            }
            if isPresented != true { _ = reacted(.withdrawn, stored.sequence, stored.installation) }
        }
    }
}
