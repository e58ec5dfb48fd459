import Foundation
import KiiPushCore
import SeededNumbers
import TestSupport

/// What becomes of a message in the past, by its number.
enum Fate: Sendable, Hashable {
    case done
    /// Its handler fails, and the next attempt is a week away.
    case retry
    /// Its handler rejects it.
    case rejected
    /// It is no JSON.
    case undecodable
    /// It is shown to a user who does not react.
    case presented
    /// It stands behind one whose handler does not answer.
    case behind
    /// A person drops it in a later part.
    case dropped

    init(_ number: Int, shows: Bool) {
        self =
            switch number % 10 {
            case 0, 1, 2: .done
            case 3: shows ? .presented : .retry
            case 4: .rejected
            case 5: .undecodable
            // What was in hand when a process ended runs alone, so another receiver's unanswered message would hold it up.
            default: shows ? .done : .behind
            }
    }

    /// What a person decides in a later part: in the second of half of what failed, in the third of little. A failed message
    /// is tried again and succeeds, and bytes that nobody can read are dropped.
    func decided(_ number: Int, in part: Int) -> Fate? {
        guard part == 1 ? number / 10 % 2 == 0 : number % 14 == 0 else { return nil }
        return switch self {
        case .retry, .rejected: .done
        case .undecodable: .dropped
        case .done, .presented, .behind, .dropped: nil
        }
    }
}

/// The messages of the past.
enum PastMessages {
    /// - Parameter isLarge: whether its payload takes pages of its own.
    static func packet(_ number: Int, topic: String, fate: Fate, isLarge: Bool) -> MQTTPacket {
        let payload = self.payload(number, fate, isLarge)
        return .publish(MQTTPublish(topic: topic, payload: payload, qos: .atLeastOnce, packetID: UInt16(number)))
    }

    private static func payload(_ number: Int, _ fate: Fate, _ isLarge: Bool) -> [UInt8] {
        var random = SeededGenerator(seed: UInt64(number))
        let length = Int.random(in: isLarge ? 5000...14_000 : 20...160, using: &random)
        // Such that no page is like another one.
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

    /// The number of a message, as long as the beginning of its payload is what it was.
    static func number(in payload: [UInt8]) -> Int? {
        let beginning = String(decoding: payload.prefix(64), as: UTF8.self)
        guard let start = beginning.range(of: #""n":"#)?.upperBound else { return nil }
        return Int(beginning[start...].prefix { $0.isNumber })
    }
}

/// Answers as the fate of a message says, during one part of the past.
final class PastHandler: RemoteNotificationHandler {
    private struct State {
        /// Unanswered: what they hold up waits.
        var held: [FetchCompletion] = []
        var failed: Set<Int> = []
    }

    private let shows: Bool
    /// The first message of the part. What failed before it and is tried again succeeds.
    private let first: Int
    /// The messages that were in hand when the part before ended. They come alone, and hold up everything until they end.
    private let suspects: Set<Int>
    private let state = Locked(State())

    init(shows: Bool, from first: Int, suspects: Set<Int>) {
        self.shows = shows
        self.first = first
        self.suspects = suspects
    }

    /// The messages that failed, and wait for their next attempt.
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
