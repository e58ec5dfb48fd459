import Foundation
import Glibc
import TestTraits
import Testing

@testable import KiiPushCommandLine
@testable import KiiPushCore
@testable import kii_push

@Suite(.ownThreads) struct ListenViewTests {
    private final class Answers: AnswerChannel {
        let verdicts = Locked<[HandlerVerdict]>([])

        func answer(_ ticket: AnswerTicket, _ verdict: HandlerVerdict) -> Bool {
            self.verdicts.withLock { $0.append(verdict) }
            return true
        }
    }

    private static var message: ReceivedMessage {
        get throws {
            try ReceivedMessage(payload: Array(#"{"sender":"u","topic":"t","objectScopeType":"APP"}"#.utf8))
        }
    }

    /// A recording whose reader does not read yet, and the reader's descriptor.
    private static func styleThatNobodyReads() throws -> (style: EventView.Style, reader: Int32) {
        let tool = try Tool()
        let path = tool.home.path + "/recording"
        try #require(mkfifo(path, 0o600) == 0)
        let reader = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        let filling = [UInt8](repeating: 10, count: 4096)
        while write(reader, filling, filling.count) > 0 {}
        let style = EventView.Style(
            console: Console(quiet: true), filter: MessageFilter(), format: MessageFormat(argument: ""),
            recorder: try MessageRecorder(path))
        withExtendedLifetime(tool) {}
        return (style, reader)
    }

    /// The test reports events as the event loop does, which must keep a connection alive and stop an agent.
    @Test func whoTellsDoesNotWaitForWhoReads() async throws {
        let (style, reader) = try Self.styleThatNobodyReads()
        defer { close(reader) }
        let view = ListenView(style, installationID: "inst", result: .newData, count: nil, bridge: nil)
        await view.open()
        let answers = Answers()
        let message = try Self.message
        let (isOver, over) = AsyncStream.makeStream(of: Void.self)
        // The handler blocks in this thread, because nobody reads the recording.
        Thread.detachNewThread {
            let context = DeliveryContext(
                installationID: "inst", messageID: 1, receivedAt: .now(), attempt: 1, deadlineInstant: .now())
            let completion = FetchCompletion(answers, AnswerTicket(sequence: 1))
            view.didReceiveRemoteNotification(message, context: context, fetchCompletionHandler: completion)
            over.finish()
        }
        for _ in 1...1000 { view.observe(.message(MessageEvent(messageID: 1, at: .now(), kind: .duplicate))) }
        view.observe(.stopping)
        #expect(answers.verdicts.withLock { $0 }.isEmpty)
        var taken = [UInt8](repeating: 0, count: 65_536)
        while read(reader, &taken, taken.count) > 0 {}
        for await _ in isOver {}
        // Releasing the completion answers too, but only the first answer counts.
        #expect(answers.verdicts.withLock { $0 }.first == .result(.newData))
    }

    /// There are more views than the executor has threads. The task that reads must still get a thread.
    @Test(.timeLimit(.minutes(10))) func whatWaitsForTheStateIsShownWithoutAThread() async throws {
        let (style, reader) = try Self.styleThatNobodyReads()
        defer { close(reader) }
        let answers = Answers()
        let message = try Self.message
        let views = (Int64(1)...64).map { number in
            let view = ListenView(style, installationID: "inst", result: .newData, count: nil, bridge: nil)
            let context = DeliveryContext(
                installationID: "inst", messageID: number, receivedAt: .now(), attempt: 1, deadlineInstant: .now())
            view.didReceiveRemoteNotification(
                message, context: context,
                fetchCompletionHandler: FetchCompletion(answers, AnswerTicket(sequence: number)))
            return view
        }
        await withTaskGroup(of: Void.self) { group in
            for view in views { group.addTask(executorPreference: globalConcurrentExecutor) { await view.open() } }
            group.addTask(executorPreference: globalConcurrentExecutor) {
                var taken = [UInt8](repeating: 0, count: 65_536)
                while read(reader, &taken, taken.count) > 0 {}
            }
            await group.waitForAll()
        }
        #expect(answers.verdicts.withLock { $0.count { $0 == .result(.newData) } } == views.count)
    }
}
