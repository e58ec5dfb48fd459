import Foundation
import TestSupport
import Testing

@testable import KiiPushCore

final class OpeningLog: OpenedNotificationHandler {
    private let texts = Locked<[String]>([])

    var opened: [String] { self.texts.withLock { $0 } }

    func openedFromNotification(_ message: ReceivedMessage) { self.texts.withLock { $0.append(message.text) } }
}

@Suite struct AgentLifecycleTests {
    private func opening(_ text: String, _ id: Int64, _ target: Int) -> OpeningTracker.Opening {
        OpeningTracker.Opening(message: .alert(text), messageID: id, target: target)
    }

    @Test(arguments: [
        ("active", "willEnterForeground", "active"), ("active", "didBecomeActive", "active"),
        ("active", "willResignActive", "inactive"), ("active", "didEnterBackground", "background"),
        ("inactive", "willEnterForeground", "inactive"), ("inactive", "didBecomeActive", "active"),
        ("inactive", "willResignActive", "inactive"), ("inactive", "didEnterBackground", "background"),
        ("background", "willEnterForeground", "inactive"), ("background", "didBecomeActive", "active"),
        ("background", "willResignActive", "background"), ("background", "didEnterBackground", "background"),
        ("notRunning", "willEnterForeground", "inactive"), ("notRunning", "didBecomeActive", "active"),
        ("notRunning", "willResignActive", "notRunning"), ("notRunning", "didEnterBackground", "background"),
    ])
    func everyCallInEveryState(before: String, call: String, after: String) throws {
        let state: LifecycleState = try #require(LifecycleState(rawValue: before))
        let lifecycle = AgentLifecycle(state: state)
        switch call {
        case "willEnterForeground": lifecycle.willEnterForeground()
        case "didBecomeActive": lifecycle.didBecomeActive()
        case "willResignActive": lifecycle.willResignActive()
        default: lifecycle.didEnterBackground()
        }
        #expect(lifecycle.state.rawValue == after)
    }

    @Test func whereAProgramBegins() {
        let message = ReceivedMessage.alert("a")
        #expect(AgentLifecycle().state == .active)
        #expect(AgentLifecycle(launchOptions: .init(remoteNotification: message)).state == .background)
        #expect(
            AgentLifecycle(launchOptions: .init(remoteNotification: message, userAction: .open)).state == .inactive)
        #expect(
            AgentLifecycle(launchOptions: .init(remoteNotification: message), state: .active).state == .active)
    }

    @Test func aListenerSeesTheStateAndEveryChange() async {
        let lifecycle = AgentLifecycle()
        var states = lifecycle.states.makeAsyncIterator()
        #expect(await states.next() == .active)
        lifecycle.willResignActive()
        lifecycle.willResignActive()
        lifecycle.didEnterBackground()
        lifecycle.willEnterForeground()
        lifecycle.didBecomeActive()
        for expected in [LifecycleState.inactive, .background, .inactive, .active] {
            #expect(await states.next() == expected)
        }
    }

    /// The recorded sequences, with the agent's receptions between the program's calls.
    @Test(arguments: RecordedSequence.all)
    func recorded(sequence: RecordedSequence) {
        var options = LaunchOptions()
        if case .didFinishLaunching(let given, _) = sequence.calls.first { options = given }
        let lifecycle = AgentLifecycle(launchOptions: options, state: sequence.firstState)
        let log = OpeningLog()
        let target = lifecycle.add(log)
        for (index, call) in sequence.calls.enumerated() {
            switch call {
            case .didFinishLaunching: break
            case .reception(let state, let opened):
                #expect(lifecycle.state == state)
                lifecycle.received(self.opening("Dinner is ready", 1, target), isUserOpened: opened)
            case .willEnterForeground: lifecycle.willEnterForeground()
            case .didBecomeActive: lifecycle.didBecomeActive()
            case .willResignActive: lifecycle.willResignActive()
            }
            let isOver = sequence.opensDuring.map { index >= $0 } ?? false
            #expect(log.opened == (isOver ? ["Dinner is ready"] : []), "\(sequence.description), call \(index)")
        }
    }

    @Test func whatIsOpenedWhileTheProgramIsActiveIsToldAtOnce() {
        let lifecycle = AgentLifecycle()
        let log = OpeningLog()
        let target = lifecycle.add(log)
        lifecycle.received(self.opening("a", 1, target), isUserOpened: true)
        #expect(log.opened == ["a"])
        lifecycle.didBecomeActive()
        #expect(log.opened == ["a"])
    }

    @Test func theLaunchWaitsForTheAgentItIsFor() {
        let options = LaunchOptions(remoteNotification: .alert("a"), messageID: 1, userAction: .open)
        let lifecycle = AgentLifecycle(launchOptions: options)
        lifecycle.didBecomeActive()
        let (first, second) = (OpeningLog(), OpeningLog())
        let target = lifecycle.add(first)
        _ = lifecycle.add(second)
        #expect(first.opened == ["a"])
        #expect(second.opened == [])
        // The message arrives once more as an ordinary push.
        lifecycle.received(self.opening("a", 1, target), isUserOpened: true)
        lifecycle.didBecomeActive()
        #expect(first.opened == ["a"])
    }

    @Test func onlyTheAgentWhoseMessageItIsIsTold() {
        let lifecycle = AgentLifecycle(state: .background)
        let (first, second) = (OpeningLog(), OpeningLog())
        _ = lifecycle.add(first)
        let target = lifecycle.add(second)
        lifecycle.willEnterForeground()
        lifecycle.received(self.opening("a", 1, target), isUserOpened: true)
        lifecycle.didBecomeActive()
        #expect(first.opened == [])
        #expect(second.opened == ["a"])
        lifecycle.remove(target)
        lifecycle.received(self.opening("b", 2, target), isUserOpened: true)
        #expect(second.opened == ["a"])
    }

    @Test func whatIsOpenedWhileTheProgramStaysInTheBackgroundDoesNotCountAsOpened() {
        let lifecycle = AgentLifecycle(state: .background)
        let log = OpeningLog()
        let target = lifecycle.add(log)
        lifecycle.userDidOpen(.alert("a"))
        lifecycle.received(self.opening("a", 1, target), isUserOpened: true)
        lifecycle.didBecomeActive()
        // A second attempt is no opening either.
        lifecycle.received(self.opening("a", 1, target), isUserOpened: true)
        #expect(log.opened == [])
    }

    @Test func theProgramIsAskedToComeToTheForeground() {
        let lifecycle = AgentLifecycle(state: .background)
        let asked = Locked<[String]>([])
        lifecycle.userDidOpen(.alert("nobody to ask"))
        #expect(lifecycle.state == .background)
        lifecycle.onForegroundRequest { message in asked.withLock { $0.append(message.text) } }
        lifecycle.userDidOpen(.alert("a"))
        #expect(asked.withLock { $0 } == ["a"])
        #expect(lifecycle.state == .inactive)
        // The program is already in the foreground, so it gets no request.
        lifecycle.userDidOpen(.alert("b"))
        #expect(asked.withLock { $0 } == ["a"])
    }

    /// Ten thousand openings while other threads change the state. Each opening is reported at most once. An opening in
    /// the active state is always reported.
    @Test func noOpeningIsToldTwiceWhateverTheThreadsDo() async throws {
        let lifecycle = AgentLifecycle()
        let log = OpeningLog()
        let target = lifecycle.add(log)
        let isOver = Locked(false)
        let openings = 10_000
        try await withThrowingTaskGroup(of: Void.self) { group in
            for call in 0..<3 {
                group.addTask {
                    try await onThread {
                        while !isOver.withLock({ $0 }) {
                            switch call {
                            case 0: lifecycle.didBecomeActive()
                            case 1: lifecycle.willResignActive()
                            default: lifecycle.didEnterBackground()
                            }
                        }
                    }
                }
            }
            try await onThread {
                for id in 1...openings {
                    lifecycle.received(self.opening("\(id)", Int64(id), target), isUserOpened: true)
                    // A second push and a second attempt arrive meanwhile.
                    lifecycle.received(self.opening("other", 0, target), isUserOpened: false)
                    lifecycle.received(self.opening("\(id)", Int64(id), target), isUserOpened: true)
                }
            }
            isOver.withLock { $0 = true }
            try await group.waitForAll()
        }
        lifecycle.didBecomeActive()
        lifecycle.received(self.opening("last", Int64(openings) + 1, target), isUserOpened: true)
        let opened = log.opened
        #expect(Set(opened).count == opened.count)
        #expect(opened.contains("last"))
        #expect(!opened.contains("other"))
    }
}
