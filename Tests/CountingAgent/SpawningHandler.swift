import Glibc
import KiiPushActivation
import KiiPushCore

/// Starts a program that counts each message, as `kii-push run --exec` does.
final class SpawningHandler: RemoteNotificationHandler {
    private static let script = #"echo "began $NUMBER $ID" >>"$LOG"; echo "ended $NUMBER $ID" >>"$LOG""#

    /// Each activator runs one program at a time.
    private let activators: [Activator]
    /// The number of messages of each activator.
    private let loads: Locked<[Int]>
    private let log: String

    init(log: String, count: Int) {
        self.log = log
        self.loads = Locked(Array(repeating: 0, count: count))
        self.activators = (0..<count).map { _ in
            var configuration = Activator.Configuration(command: ["sh", "-c", Self.script])
            configuration.input = .standardInput
            configuration.sendsOutputToStandardError = true
            return Activator(configuration: configuration)
        }
    }

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        let number = message.rawPayload["n"]?.int64 ?? -1
        let index = self.loads.withLock { loads in
            let index = loads.indices.min { loads[$0] < loads[$1] } ?? 0
            loads[index] += 1
            return index
        }
        let variables = ["NUMBER": "\(number)", "ID": "\(context.messageID)", "LOG": self.log]
        Task {
            let outcome = await self.activators[index].outcome(
                of: message.payloadBytes, context: context, limit: context.timeRemaining, environment: variables)
            self.loads.withLock { $0[index] -= 1 }
            switch outcome.verdict {
            case .result(let result): completion(result)
            case .unstarted(let reason, let retryAfter): completion.postpone(reason, retryAfter: retryAfter)
            default: completion(.failed)
            }
        }
    }
}
