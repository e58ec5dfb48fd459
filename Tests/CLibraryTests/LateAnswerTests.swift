import CKiiPush
import TestSupport
import Testing

@testable import KiiPushC
@testable import KiiPushCore

/// Answers after the deadline of a call.
@Suite struct LateAnswerTests {
    /// Accepts late answers as delivery does: only a success counts, and only until the next attempt begins.
    private final class LateChannel: AnswerChannel {
        let verdicts = Locked<[HandlerVerdict]>([])
        private let hasNextBegun: Bool

        init(hasNextBegun: Bool = false) { self.hasNextBegun = hasNextBegun }

        func answer(_ ticket: AnswerTicket, _ verdict: HandlerVerdict) -> Bool {
            self.verdicts.withLock { $0.append(verdict) }
            return verdict.isSuccess && !self.hasNextBegun
        }
    }

    /// A call past its deadline, whose handler has returned `KII_PUSH_LATER`.
    private func lateCall(_ channel: LateChannel, for runtime: LateChannel) throws -> UInt64 {
        let message = try ReceivedMessage(payload: Array(#"{"n":1}"#.utf8))
        let context = DeliveryContext(installationID: "i", messageID: 1, receivedAt: .now(), attempt: 1)
        return withUnsafePointer(to: message) { message in
            let added = handles.withLock { handles in
                handles.add {
                    HandlerCall(
                        $0, ObjectIdentifier(runtime), at: UInt(bitPattern: message), isCommand: false, context,
                        FetchCompletion(channel, AnswerTicket(sequence: 1)))
                }
            }
            HandlerCall.returned(added.number, Int32(KII_PUSH_LATER.rawValue))
            return added.number
        }
    }

    @Test func aSuccessCountsAndNothingElseDoes() throws {
        let channel = LateChannel()
        let completion = try self.lateCall(channel, for: channel)
        expectFailure(KII_PUSH_E_HANDLE) { kii_push_complete(completion, Int32(KII_PUSH_FAILED.rawValue), $0) }
        expectFailure(KII_PUSH_E_HANDLE) { kii_push_reject(completion, "no", 2, $0) }
        try succeed { kii_push_complete(completion, Int32(KII_PUSH_NEW_DATA.rawValue), $0) }
        expectFailure(KII_PUSH_E_HANDLE) { kii_push_complete(completion, Int32(KII_PUSH_NEW_DATA.rawValue), $0) }
        // Releasing the completion reports `.unanswered` too.
        let verdicts: [HandlerVerdict] = [.result(.failed), .rejected("no"), .result(.newData), .unanswered]
        #expect(channel.verdicts.withLock { $0 } == verdicts)
    }

    /// No later answer could count, so the library releases the call.
    @Test func aSuccessAfterTheNextAttemptEndsTheCall() throws {
        let channel = LateChannel(hasNextBegun: true)
        let completion = try self.lateCall(channel, for: channel)
        expectFailure(KII_PUSH_E_HANDLE) { kii_push_complete(completion, Int32(KII_PUSH_NO_DATA.rawValue), $0) }
        #expect(channel.verdicts.withLock { $0 } == [.result(.noData), .unanswered])
    }
}
