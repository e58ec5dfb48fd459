import Foundation
import KiiPushCore
import SeededNumbers
import TestSupport

/// The fate of a message before the damage, which follows from the message's number.
enum Fate: Sendable, Hashable {
    case done
    /// The handler fails, and the next attempt is a week away.
    case retry
    case rejected
    case undecodable
    /// The user sees the message and does not react.
    case presented
    /// The message waits behind another message, whose handler does not answer.
    case behind
    case dropped

    init(_ number: Int, shows: Bool) {
        self =
            switch number % 10 {
            case 0, 1, 2: .done
            case 3: shows ? .presented : .retry
            case 4: .rejected
            case 5: .undecodable
            // Only one receiver may leave messages unanswered. After a restart these run alone, so they would hold up
            // another receiver.
            default: shows ? .done : .behind
            }
    }

    /// A person's decision in a later part. In the second part it concerns half of the failed messages, in the third
    /// part a few. The person retries a failed message, which then succeeds, and drops undecodable messages.
    func decided(_ number: Int, in part: Int) -> Fate? {
        guard part == 1 ? number / 10 % 2 == 0 : number % 14 == 0 else { return nil }
        return switch self {
        case .retry, .rejected: .done
        case .undecodable: .dropped
        case .done, .presented, .behind, .dropped: nil
        }
    }
}

enum PastMessages {
    static func packet(_ number: Int, topic: String, fate: Fate, isLarge: Bool) -> MQTTPacket {
        let payload = self.payload(number, fate, isLarge)
        return .publish(MQTTPublish(topic: topic, payload: payload, qos: .atLeastOnce, packetID: UInt16(number)))
    }

    private static func payload(_ number: Int, _ fate: Fate, _ isLarge: Bool) -> [UInt8] {
        var random = SeededGenerator(seed: UInt64(number))
        let length = Int.random(in: isLarge ? 5000...14_000 : 20...160, using: &random)
        // Random text makes all pages different.
        let text = String(decoding: (0..<length).map { _ in UInt8.random(in: 97...122, using: &random) }, as: UTF8.self)
        switch fate {
        case .undecodable: return Array(#"no JSON: "n":\#(number),"text":"\#(text)""#.utf8)
        case .presented: return Array(#"{"n":\#(number),"aps":{"alert":"Hello"},"text":"\#(text)"}"#.utf8)
        case .done, .retry, .rejected, .behind, .dropped:
            let source = fate == .behind ? "behind" : "quick-\(number % 3)"
            let address = #""topic":"\#(source)","objectScopeType":"APP","objectScopeAppID":"app""#
            return Array(#"{"n":\#(number),\#(address),"text":"\#(text)"}"#.utf8)
        }
    }

    /// The number of a message, if the beginning of its payload is undamaged.
    static func number(in payload: [UInt8]) -> Int? {
        let beginning = String(decoding: payload.prefix(64), as: UTF8.self)
        guard let start = beginning.range(of: #""n":"#)?.upperBound else { return nil }
        return Int(beginning[start...].prefix { $0.isNumber })
    }
}

final class PastHandler: RemoteNotificationHandler {
    private struct State {
        /// Unanswered calls. Later messages of their sources wait behind them.
        var held: [FetchCompletion] = []
        var failed: Set<Int> = []
    }

    private let shows: Bool
    /// The first message of this part. Earlier messages that failed succeed now.
    private let first: Int
    /// The messages whose calls ran when the previous part ended. They run alone first, and all other messages wait.
    private let suspects: Set<Int>
    private let state = Locked(State())

    init(shows: Bool, from first: Int, suspects: Set<Int>) {
        self.shows = shows
        self.first = first
        self.suspects = suspects
    }

    var failed: Set<Int> { self.state.withLock { $0.failed } }

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        guard let number = message.rawPayload["n"]?.int64.map(Int.init) else { return }
        switch Fate(number, shows: self.shows) {
        case .rejected where number >= self.first: completion.reject("not wanted")
        case .behind where !self.suspects.contains(number): self.state.withLock { $0.held.append(completion) }
        case .retry where number >= self.first, .behind:
            completion(.failed)
            _ = self.state.withLock { $0.failed.insert(number) }
        case .done, .retry, .rejected, .undecodable, .presented, .dropped: completion(.newData)
        }
    }
}
