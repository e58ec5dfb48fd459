import Foundation
import Glibc
import KiiPushCore
import TestSupport
import TestTraits
import Testing

@testable import KiiPushCommandLine
@testable import kii_push

@Suite(.ownThreads) struct JournalTests {
    @Test func aVerdictHasFieldsToLookForAndNothingOfWhatTheMessageSays() async throws {
        let journal = try DatagramReceiver("@kii-push-test-\(UUID().uuidString)")
        let notes = MessageNotes()
        // `hasStandardOutput`: standard output is the journal too, so the view prints no second line, and the test's
        // own output stays clean.
        let view = RunView(
            console: Console(), installationID: "installation", notes: notes,
            journal: Journal(path: journal.path, hasStandardOutput: true))
        let payload = #"{"msg":"secret words","appID":"a","sender":"s","topic":"alerts","objectScopeType":"APP"}"#
        let message = try ReceivedMessage(payload: Array(payload.utf8))
        let context = DeliveryContext(
            installationID: "i", messageID: 17, receivedAt: .now(), attempt: 2, deadlineInstant: .now() + .seconds(30))
        await view.show(.event(.message(MessageEvent(messageID: 17, at: .now(), kind: .started(attempt: 2)))))
        notes.begin(HandledMessage(message), context, isWatched: true)
        notes.end(
            MessageKey(id: 17), attempt: 2,
            HandlerOutcome(target: "exec a", ending: .exit(0), elapsed: .milliseconds(12)))
        await view.show(
            .event(.message(MessageEvent(messageID: 17, at: .now(), kind: .done(.newData, attempt: 2, isLate: false)))))
        await view.show(
            .event(.message(MessageEvent(messageID: 18, at: .now(), kind: .dead(.rejected("no\nway"), attempt: 1)))))
        let texts = journal.wait { $0.count >= 2 }
        #expect(texts.count == 2)
        #expect(
            texts.first == """
                MESSAGE=<-- newData  #17  exec a  exit 0  12 ms
                PRIORITY=6
                SYSLOG_IDENTIFIER=kii-push
                KII_MESSAGE_ID=17
                KII_RESULT=newData
                KII_KIND=\(HandledMessage(message).kind)
                KII_TOPIC=alerts

                """)
        #expect(
            texts.last == #"""
                MESSAGE=<-- dead  #18  rejected: no\nway; kept in the inbox
                PRIORITY=3
                SYSLOG_IDENTIFIER=kii-push
                KII_MESSAGE_ID=18
                KII_RESULT=dead

                """#)
        #expect(!texts.contains { $0.contains("secret") })
    }

    @Test func aValueWithALineEndComesWithItsLength() throws {
        let receiver = try DatagramReceiver("@kii-push-test-\(UUID().uuidString)")
        let journal = try #require(Journal(path: receiver.path, hasStandardOutput: false))
        #expect(journal.write("a", .warning, [("KII_TOPIC", "x\nPRIORITY=0")]))
        receiver.wait { !$0.isEmpty }
        let head = Array("MESSAGE=a\nPRIORITY=4\nSYSLOG_IDENTIFIER=kii-push\nKII_TOPIC\n".utf8)
        let expected = head + [12, 0, 0, 0, 0, 0, 0, 0] + Array("x\nPRIORITY=0\n".utf8)
        #expect(receiver.datagrams.first == expected)
    }

    @Test func whatNobodyTakesIsNotWritten() throws {
        let journal = try #require(Journal(path: "/nowhere/journal", hasStandardOutput: false))
        #expect(!journal.write("a", .information, []))
    }

    @Test func aStreamIsKnownByItsDeviceAndInode() throws {
        var status = stat()
        #expect(fstat(STDERR_FILENO, &status) == 0)
        let name = "\(status.st_dev):\(status.st_ino)"
        #expect(Journal.isStream(name, STDERR_FILENO))
        #expect(!Journal.isStream("\(status.st_dev):\(status.st_ino &+ 1)", STDERR_FILENO))
        #expect(!Journal.isStream("", STDERR_FILENO))
        #expect(!Journal.isStream(name, -1))
        #expect(Journal.connected(stream: nil) == nil)
        #expect(Journal.connected(stream: "1:2") == nil)
        let path = "@kii-push-test-\(UUID().uuidString)"
        #expect(Journal.connected(stream: name, path: path) != nil)
    }
}
