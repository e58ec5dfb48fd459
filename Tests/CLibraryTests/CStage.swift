import CKiiPush
import Foundation
import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

/// An emulator, and an agent of the C interface with a subscribed topic of its user.
final class CStage: Sendable {
    private let answer: @Sendable (UnsafePointer<kii_push_message>) -> Int32
    /// The counts of the agent's inbox after ``play(_:_:)``.
    let inbox = Locked<MessageLedger?>(nil)

    init(_ answer: @escaping @Sendable (UnsafePointer<kii_push_message>) -> Int32) { self.answer = answer }

    /// - Parameter more: additional settings of the runtime.
    func play(
        _ more: JSONMembers = [], _ body: @escaping @Sendable (kii_push_runtime, kii_push_agent) throws -> Void
    ) async throws {
        try await withEmulator { emulator, directory in
            let settings = JSONValue.object(
                [
                    ("stateDirectory", JSONValue("\(directory)/state")), ("callTimeout", 600), ("shutdownGrace", 0.1),
                    ("certificateAuthorityFile", JSONValue(emulator.certificateAuthorityFile)),
                ] + more)
            let app: JSONValue = [
                "id": JSONValue(emulator.appID), "key": JSONValue(emulator.appKey.reveal()),
                "baseURL": JSONValue(emulator.baseURL),
            ]
            let configuration: JSONValue = ["app": app, "account": ["type": "pseudoUser"]]
            try await onThread {
                let (settings, json) = (settings.text, configuration.text)
                var (runtime, agent): (kii_push_runtime, kii_push_agent) = (0, 0)
                try succeed { kii_push_open(UInt32(KII_PUSH_API), settings, settings.utf8.count, &runtime, $0) }
                defer { _ = kii_push_close(runtime, nil) }
                try succeed {
                    kii_push_agent_new(
                        runtime, json, json.utf8.count,
                        { context, message in
                            guard let context, let message else { return -1 }
                            return Unmanaged<CStage>.fromOpaque(context).takeUnretainedValue().answer(message)
                        }, Unmanaged.passUnretained(self).toOpaque(), &agent, $0)
                }
                try succeed { kii_push_register(agent, $0) }
                for path in ["/users/me/topics/todo", "/users/me/topics/todo/push/subscriptions/users/me"] {
                    try succeed { kii_push_call(agent, "PUT", path, nil, nil, 0, nil, nil, $0) }
                }
                try body(runtime, agent)
            }
            self.inbox.withLock { $0 = try? InboxReader(stateDirectory: "\(directory)/state").ledger() }
        }
    }

    func send(_ json: String, as agent: kii_push_agent) throws {
        var id: UnsafeMutablePointer<CChar>?
        try succeed { kii_push_send(agent, "topic:me/todo", json, json.utf8.count, &id, $0) }
        let isNamed = id.map { !String(cString: $0).isEmpty }
        #expect(isNamed == true)
        kii_push_free(id)
    }

    func deadLetters(_ runtime: kii_push_runtime) throws -> [JSONValue] {
        var (text, length): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
        try succeed { kii_push_dead_letters(runtime, 0, &text, &length, $0) }
        defer { kii_push_free(text) }
        return try #require(try JSONValue(parsing: CStage.text(text, length)).array)
    }

    /// A member of a message; `nil` if the message has none.
    static func field(_ message: UnsafePointer<kii_push_message>, _ name: String) -> String? {
        var (value, length): (UnsafePointer<CChar>?, Int) = (nil, 0)
        guard kii_push_field(message, name, name.utf8.count, &value, &length, nil) == 0 else { return nil }
        return Self.text(value, length)
    }

    /// The URI of the message's topic or bucket; `nil` if the message names none.
    static func source(_ message: UnsafePointer<kii_push_message>) -> String? {
        var (value, length): (UnsafePointer<CChar>?, Int) = (nil, 0)
        guard kii_push_source(message, &value, &length, nil) == 0 else { return nil }
        return Self.text(value, length)
    }

    /// A text of the library. The library adds a zero byte after `length` bytes.
    static func text(_ start: UnsafePointer<CChar>?, _ length: Int) -> String {
        guard let start else { return "" }
        #expect(start[length] == 0)
        return String(decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self)
    }

    static func text(_ start: UnsafeMutablePointer<CChar>?, _ length: Int) -> String {
        Self.text(start.map { UnsafePointer($0) }, length)
    }
}

/// An observer for the C interface. It must outlive the agent.
final class CObserver: Sendable {
    private let observed: @Sendable (String) -> Void

    init(_ observed: @escaping @Sendable (String) -> Void) { self.observed = observed }

    func observe(_ agent: kii_push_agent) throws {
        let context = Unmanaged.passUnretained(self).toOpaque()
        try succeed { error in
            kii_push_observe(
                agent,
                { context, json, length in
                    guard let context else { return }
                    Unmanaged<CObserver>.fromOpaque(context).takeUnretainedValue().observed(CStage.text(json, length))
                }, context, error)
        }
    }
}

/// A queue from other threads to the test. ``next()`` waits for an element.
final class Channel<Element: Sendable>: Sendable {
    private let elements = Monitor<[Element]>([])

    func add(_ element: sending Element) {
        self.elements.withLock { $0.append(element) }
        self.elements.signalAll()
    }

    func next() -> Element {
        self.elements.wait { elements in
            elements.isEmpty ? .sleep(until: nil) : .leave(elements.removeFirst())
        }
    }
}
