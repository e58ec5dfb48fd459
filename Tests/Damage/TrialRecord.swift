import KiiPushCore
import TestSupport

final class TrialRecord: Sendable {
    struct Call: Sendable {
        var messageID: Int64
        var payload: String
    }

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
        /// Replacements by path, because every agent reports each one.
        var replacements: [String: Replacement] = [:]
    }

    private let state = Locked(State())

    var isSeen: Bool {
        get { self.state.withLock { $0.isSeen } }
        set { self.state.withLock { $0.isSeen = newValue } }
    }
    var lostAtOpening: Int64 {
        get { self.state.withLock { $0.lostAtOpening } }
        set { self.state.withLock { $0.lostAtOpening = newValue } }
    }
    var calls: [Call] { self.state.withLock { $0.calls } }
    /// Agents of this run that have started to connect.
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

struct TrialHandler: RemoteNotificationHandler {
    let record: TrialRecord

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        self.record.note(.init(messageID: context.messageID, payload: message.rawPayload.text))
        completion(.newData)
    }
}
