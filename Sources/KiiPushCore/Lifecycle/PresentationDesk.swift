/// Gives messages to the presenter, and what becomes of them there to delivery.
package final class PresentationDesk: Sendable {
    private struct State {
        weak var reactions: (any ReactionTaker)?
        /// The store's keys of the installations whose messages may be presented.
        var installations: [String: Int64] = [:]
        /// Presented by this process, and not answered.
        var outstanding: Set<NotificationRequest.Key> = []
        /// Answered since ``PresentationDesk/beginRestoring()``; `nil` when nothing is being restored.
        var answered: Set<NotificationRequest.Key>?
    }

    let presenter: (any NotificationPresenter)?
    private let lifecycle: AgentLifecycle?
    private let state = Locked(State())

    package init(presenter: (any NotificationPresenter)?, lifecycle: AgentLifecycle?) {
        self.presenter = presenter
        self.lifecycle = lifecycle
    }

    package func attach(_ reactions: any ReactionTaker, installations: [(key: Int64, id: String)]) {
        self.state.withLock { state in
            state.reactions = reactions
            for (key, id) in installations { state.installations[id] = key }
        }
    }

    /// The alert that is presented for a message; `nil` for none.
    func alert(for message: ReceivedMessage) -> NotificationAlert? {
        self.presenter.map { $0.alert(for: message) } ?? message.content?.alert
    }

    /// - Parameters:
    ///   - isResting: whether nobody is called until it is answered.
    ///   - again: whether an earlier run has presented it.
    /// - Returns: whether it is presented; false as well for one that the presenter was given before and has not answered.
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
        // Before it is shown: it may be answered at once. The presenter may have it already, and not have returned in time.
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
        let (reactions, installation) = self.state.withLock { state in
            state.outstanding.remove(key)
            state.answered?.insert(key)
            return (state.reactions, state.installations[key.installationID])
        }
        guard let reactions, let installation else { return false }
        switch response {
        // Where nothing rests, the handler was called already, and there is nothing to be decided.
        case .dismissed where !isResting, .expired where !isResting, .unavailable where !isResting: return true
        case .dismissed, .expired: return reactions.dismissed(key.messageID, installation: installation)
        case .unavailable: return reactions.withdrawn(key.messageID, installation: installation)
        case .opened(let action):
            if action.opensProgram { self.lifecycle?.userOpens(message) }
            let stored = StoredMessage(
                sequence: key.messageID, installation: installation, topic: "", payload: message.payloadBytes,
                receivedAt: receivedAt)
            return reactions.opened(DeliveryOpening(stored, action: action))
        }
    }

    /// Messages of earlier runs are about to be read from the store, of which some may be answered meanwhile.
    func beginRestoring() { self.state.withLock { $0.answered = [] } }
    func endRestoring() { self.state.withLock { $0.answered = nil } }

    /// Presents messages that an earlier run has presented and that were not answered. The one that the program was
    /// launched for is delivered instead.
    ///
    /// - Returns: the numbers of those that cannot be presented.
    func restore(_ messages: [StoredMessage], installationID: String) -> [Int64] {
        var unpresented: [Int64] = []
        for stored in messages {
            let key = NotificationRequest.Key(installationID: installationID, messageID: stored.sequence)
            let isKnown = self.state.withLock { state in
                state.outstanding.contains(key) || state.answered?.contains(key) == true
            }
            guard !isKnown else { continue }
            // The program is here for it.
            if let options = self.lifecycle?.launchOptions, options.names(key) {
                if let action = options.userAction, let reactions = self.state.withLock({ $0.reactions }) {
                    _ = reactions.opened(DeliveryOpening(stored, action: action))
                } else {
                    unpresented.append(stored.sequence)
                }
                continue
            }
            // What cannot be decoded any more becomes a dead letter when it is delivered.
            let message = try? ReceivedMessage(payload: stored.payload)
            let isPresented = message.map { message in
                self.present(
                    message, self.alert(for: message), key, receivedAt: stored.receivedAt, isResting: true, again: true)
            }
            if isPresented != true { unpresented.append(stored.sequence) }
        }
        return unpresented
    }
}
