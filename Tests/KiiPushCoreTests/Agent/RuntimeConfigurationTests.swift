import KiiPushCore
import Testing

@Suite struct RuntimeConfigurationTests {
    struct Setting: Sendable, CustomTestStringConvertible {
        var name: String
        var change: @Sendable (inout PushRuntime.Configuration) -> Void

        init(_ name: String, _ change: @escaping @Sendable (inout PushRuntime.Configuration) -> Void) {
            self.name = name
            self.change = change
        }

        var testDescription: String { self.name }

        func configuration() -> PushRuntime.Configuration {
            var configuration = PushRuntime.Configuration(stateDirectory: "/nonexistent")
            self.change(&configuration)
            return configuration
        }
    }

    static let impossible: [Setting] = [
        Setting("concurrentHandlers") { $0.concurrentHandlers = 0 },
        Setting("concurrentHandlers") { $0.concurrentHandlers = 10_001 },
        Setting("retryDelays") { $0.retryDelays = [.seconds(1), .seconds(-1)] },
        Setting("retryDelays") { $0.retryDelays = [.seconds(7 * 24 * 3600 + 1)] },
        Setting("retryDelays") { $0.retryDelays = Array(repeating: .seconds(1), count: 101) },
        Setting("callTimeout") { $0.callTimeout = .zero },
        Setting("shutdownGrace") { $0.shutdownGrace = .seconds(-1) },
        Setting("bounds.handledKeptFor") { $0.bounds.handledKeptFor = .zero },
        Setting("bounds.handledKeptBytes") { $0.bounds.handledKeptBytes = -1 },
        Setting("bounds.messagesInMemory") { $0.bounds.messagesInMemory = 3 },
        Setting("bounds.bytesInMemory") { $0.bounds.bytesInMemory = 1_048_575 },
        Setting("bounds.waitingBytes") { $0.bounds.waitingBytes = 0 },
        Setting("bounds.deadLetters") { $0.bounds.deadLetters = 1 },
        Setting("bounds.deadLetterBytes") { $0.bounds.deadLetterBytes = 0 },
    ]

    static let extreme: [Setting] = [
        Setting("no retry") { $0.retryDelays = [] },
        Setting("retry at once") { $0.retryDelays = [.zero] },
        Setting("nothing handled is kept") { $0.bounds.handledKeptBytes = 0 },
        Setting("no grace") { $0.shutdownGrace = .zero },
        Setting("one handler at a time") { $0.concurrentHandlers = 1 },
    ]

    @Test(arguments: impossible)
    func whatCannotBeMeantIsRefusedByName(setting: Setting) throws {
        let error = #expect(throws: PushAgentError.self) { try PushRuntime(configuration: setting.configuration()) }
        guard case .invalidConfiguration(setting.name, let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.description == "\(setting.name) \(reason)")
    }

    @Test(arguments: extreme)
    func whatIsMerelyUnusualIsTaken(setting: Setting) {
        #expect(throws: Never.self) { try PushRuntime(configuration: setting.configuration()) }
    }
}
