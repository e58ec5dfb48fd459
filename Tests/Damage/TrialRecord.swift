import KiiPushCore
import TestSupport

/// What the agents of a trial did and told.
final class TrialRecord: Sendable {
    /// One call of a handler.
    struct Call: Sendable {
        var messageID: Int64
        var payload: String
    }

    /// A damaged file that was moved aside.
    struct Replacement: Sendable {
        var reason: String
        var takenOver: Int
        var lost: Int?
    }

    private struct State {
        var isSeen = false
        var lostAtOpening: Int64 = 0
        var calls: [Call] = []
        var connecting: Set<String> = []
        /// By path: each is told by every agent.
        var replacements: [String: Replacement] = [:]
    }

    private let state = Locked(State())

    /// Whether the damage was seen before an agent started.
    var isSeen: Bool {
        get { self.state.withLock { $0.isSeen } }
        set { self.state.withLock { $0.isSeen = newValue } }
    }
    /// How many messages were lost before the last agents began.
    var lostAtOpening: Int64 {
        get { self.state.withLock { $0.lostAtOpening } }
        set { self.state.withLock { $0.lostAtOpening = newValue } }
    }
    var calls: [Call] { self.state.withLock { $0.calls } }
    /// How many agents of the present run have got as far as their connection.
    var connecting: Int { self.state.withLock { $0.connecting.count } }
    var replacements: [Replacement] { self.state.withLock { Array($0.replacements.values) } }

    func beginRun() { self.state.withLock { $0.connecting = [] } }

    func note(_ call: Call) { self.state.withLock { $0.calls.append(call) } }

    func note(_ event: PushEvent, of agent: String) {
        switch event {
        case .connecting: self.state.withLock { _ = $0.connecting.insert(agent) }
        case .inboxMovedAside(let path, let reason, let takenOver, let lost):
            self.state.withLock {
                $0.replacements[path] = Replacement(reason: reason, takenOver: takenOver, lost: lost)
            }
        default: break
        }
    }
}

/// Handles everything.
struct TrialHandler: RemoteNotificationHandler {
    let record: TrialRecord

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        self.record.note(.init(messageID: context.messageID, payload: message.rawPayload.text))
        completion(.newData)
    }
}
