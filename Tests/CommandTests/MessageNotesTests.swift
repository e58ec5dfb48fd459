import TestTraits
import Testing

@testable import KiiPushCommandLine
@testable import KiiPushCore

@Suite(.ownThreads) struct MessageNotesTests {
    @Test func anAttemptThatIsNotOverIsOverdueAfterItsDeadline() {
        let notes = MessageNotes()
        let context = DeliveryContext(
            installationID: "i", messageID: 1, receivedAt: .now(), attempt: 1, deadlineInstant: .now() + .seconds(30))
        let command = ThingCommand(commandID: "c", actions: [:], rawPayload: [:])
        notes.begin(HandledMessage(command), context, isWatched: true)
        #expect(notes.overdue() == .zero)
        #expect(notes.inHand == 1)
        #expect(notes.overdue(at: .now + .seconds(95)) > .seconds(60))
        notes.end(MessageKey(id: 1), attempt: 1, HandlerOutcome(target: "exec a", ending: .exit(0), elapsed: .zero))
        #expect(notes.overdue(at: .now + .seconds(95)) == .zero)
        #expect(notes.inHand == 0)
        notes.forget(MessageKey(id: 1))
        #expect(notes.note(of: MessageKey(id: 1), attempt: 1) == nil)
    }

    @Test func anAttemptThatGoesOnWhileAnotherHasBegunIsOverdueStill() {
        let notes = MessageNotes()
        let command = HandledMessage(ThingCommand(commandID: "c", actions: [:], rawPayload: [:]))
        func context(_ attempt: Int, _ limit: Duration) -> DeliveryContext {
            DeliveryContext(
                installationID: "i", messageID: 1, receivedAt: .now(), attempt: attempt,
                deadlineInstant: .now() + limit)
        }
        let outcome = HandlerOutcome(target: "exec a", ending: .exit(0), elapsed: .zero)
        notes.begin(command, context(1, .seconds(30)), isWatched: true)
        // The first attempt's time is up and shown. Then the next attempt starts and ends.
        notes.forget(MessageKey(id: 1))
        notes.begin(command, context(2, .seconds(300)), isWatched: true)
        #expect(notes.inHand == 2)
        #expect(notes.note(of: MessageKey(id: 1), attempt: 2)?.attempt == 2)
        notes.end(MessageKey(id: 1), attempt: 2, outcome)
        notes.forget(MessageKey(id: 1))
        #expect(notes.inHand == 1)
        #expect(notes.overdue(at: .now + .seconds(95)) > .seconds(60))
        notes.end(MessageKey(id: 1), attempt: 1, outcome)
        #expect(notes.inHand == 0)
        #expect(notes.note(of: MessageKey(id: 1), attempt: 1) == nil)
        #expect(notes.note(of: MessageKey(id: 1), attempt: 2) == nil)
    }
}
