import Testing

@testable import KiiPushCore

@Suite struct OpeningTrackerTests {
    private func opening(_ text: String, _ id: Int64 = 1, of installation: String? = nil) -> OpeningTracker.Opening {
        OpeningTracker.Opening(message: .alert(text), messageID: id, installationID: installation)
    }

    /// The message that each call opens, without an agent.
    private func trace(_ sequence: RecordedSequence) -> [String?] {
        var tracker = OpeningTracker()
        return sequence.calls.map { call in
            switch call {
            case .didFinishLaunching(let options, _): tracker.didFinishLaunching(options)
            case .reception(let state, let opened):
                tracker.received(
                    .init(message: RecordedSequence.message, messageID: 1), state: state, isUserOpened: opened)
            case .willEnterForeground: tracker.willEnterForeground()
            case .willResignActive: break
            case .didBecomeActive: return tracker.didBecomeActive()?.message.text
            }
            return nil
        }
    }

    @Test(arguments: RecordedSequence.all)
    func recorded(sequence: RecordedSequence) {
        let opened = self.trace(sequence)
        var lines = [sequence.description]
        for (call, text) in zip(sequence.calls, opened) {
            let words = "  \(call)"
            let padding = String(repeating: " ", count: max(1, 40 - words.count))
            lines.append(words + (text.map { "\(padding)openedFromNotification(\"\($0)\")" } ?? ""))
        }
        print(lines.joined(separator: "\n"))
        #expect(
            opened == sequence.calls.indices.map { $0 == sequence.opensDuring ? "Dinner is ready" : nil },
            "\(sequence.description)")
    }

    @Test func thereAreFourRecordedSequences() {
        #expect(RecordedSequence.all.map(\.calls.count) == [5, 3, 4, 3])
        #expect(RecordedSequence.all.map { $0.opensDuring != nil } == [true, true, true, false])
    }

    @Test func oneThatWasStartedByAPushWithoutAUserIsNotOpened() {
        var tracker = OpeningTracker()
        tracker.didFinishLaunching(LaunchOptions(remoteNotification: .alert("a"), messageID: 1))
        #expect(tracker.didBecomeActive() == nil)
    }

    @Test func whatALaunchLeftIsClearedWhenTheUserComesAnotherWay() {
        var tracker = OpeningTracker()
        tracker.didFinishLaunching(
            LaunchOptions(remoteNotification: .alert("a"), messageID: 1, userAction: .open))
        tracker.willEnterForeground()
        #expect(tracker.didBecomeActive() == nil)
    }

    @Test func aSecondPushDuringTheOpeningChangesNothing() {
        var tracker = OpeningTracker()
        tracker.willEnterForeground()
        tracker.received(self.opening("first", 1), state: .inactive, isUserOpened: true)
        tracker.received(self.opening("second", 2), state: .inactive, isUserOpened: false)
        #expect(tracker.didBecomeActive()?.message.text == "first")
        #expect(tracker.didBecomeActive() == nil)
    }

    @Test func ofTwoThatAreOpenedBeforeTheProgramIsActiveTheLaterOneCounts() {
        var tracker = OpeningTracker()
        tracker.received(self.opening("first", 1), state: .inactive, isUserOpened: true)
        tracker.received(self.opening("second", 2), state: .inactive, isUserOpened: true)
        #expect(tracker.didBecomeActive()?.message.text == "second")
        #expect(tracker.didBecomeActive() == nil)
    }

    @Test func aFurtherReceptionOfWhatWasOpenedIsNoFurtherOpening() {
        var tracker = OpeningTracker()
        tracker.didFinishLaunching(
            LaunchOptions(remoteNotification: .alert("a"), messageID: 7, userAction: .open))
        #expect(tracker.didBecomeActive()?.message.text == "a")
        tracker.received(self.opening("a", 7), state: .inactive, isUserOpened: true)
        #expect(tracker.didBecomeActive() == nil)
    }

    @Test func messagesOfTwoInboxesAreToldApart() {
        var tracker = OpeningTracker()
        for installation in ["a", "b"] {
            tracker.received(self.opening(installation, 7, of: installation), state: .inactive, isUserOpened: true)
            #expect(tracker.didBecomeActive()?.message.text == installation)
            tracker.received(self.opening(installation, 7, of: installation), state: .inactive, isUserOpened: true)
            #expect(tracker.didBecomeActive() == nil)
        }
    }

    @Test(arguments: [nil, "a"])
    func theLaunchIsThatOfOneInbox(installation: String?) {
        var tracker = OpeningTracker()
        tracker.didFinishLaunching(
            LaunchOptions(
                remoteNotification: .alert("a"), messageID: 7, userAction: .open, installationID: installation))
        #expect(tracker.didBecomeActive()?.message.text == "a")
        tracker.received(self.opening("a", 7, of: "a"), state: .inactive, isUserOpened: true)
        #expect(tracker.didBecomeActive() == nil)
        tracker.received(self.opening("b", 7, of: "b"), state: .inactive, isUserOpened: true)
        #expect(tracker.didBecomeActive()?.message.text == "b")
    }

    @Test func aFurtherReceptionOfWhatWasClearedIsNoOpeningEither() {
        var tracker = OpeningTracker()
        tracker.received(self.opening("a"), state: .inactive, isUserOpened: true)
        tracker.willEnterForeground()
        tracker.received(self.opening("a"), state: .inactive, isUserOpened: true)
        #expect(tracker.didBecomeActive() == nil)
    }

    @Test(arguments: [LifecycleState.active, .background, .notRunning])
    func aReceptionInAnotherStateIsNoOpening(state: LifecycleState) {
        var tracker = OpeningTracker()
        tracker.received(self.opening("a"), state: state, isUserOpened: true)
        #expect(tracker.didBecomeActive() == nil)
    }
}
