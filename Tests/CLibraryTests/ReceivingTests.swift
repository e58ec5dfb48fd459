import CKiiPush
import Foundation
import KiiPushCore
import KiiPushEmulator
import TestSupport
import TestTraits
import Testing

@Suite(.ownThreads) struct ReceivingTests {
    @Test func aMessageIsHandledAndToldOf() async throws {
        let lines = Channel<JSONValue>()
        let observer = CObserver { lines.add((try? JSONValue(parsing: $0)) ?? .null) }
        let seen = Channel<[String?]>()
        let stage = CStage { message in
            seen.add([
                CStage.text(message.pointee.payload, message.pointee.payload_length).last.map { "\($0)" },
                CStage.source(message), CStage.field(message, "msg"),
                CStage.field(message, "n"), CStage.field(message, "topic"), CStage.field(message, "nothing"),
                "\(message.pointee.kind) \(message.pointee.attempt)",
            ])
            return Int32(KII_PUSH_NEW_DATA.rawValue)
        }
        try await stage.play { runtime, agent in
            try observer.observe(agent)
            try succeed { kii_push_start(agent, $0) }
            try stage.send(#"{"msg": "hällo", "n": 4}"#, as: agent)
            let call = seen.next()
            let (uri, kind) = (call[1] ?? "", KII_PUSH_KIND_PUSH_TO_USER.rawValue)
            #expect(uri.hasPrefix("kiicloud://users/") && uri.hasSuffix("/topics/todo"))
            #expect(call == ["}", uri, "hällo", "4", "todo", nil, "\(kind) 1"])
            // A message that the broker had queued may arrive before the event of the connection.
            var (connected, message, verdict): (JSONValue?, JSONValue?, JSONValue?)
            while connected == nil || message == nil || verdict == nil {
                let line = lines.next()
                #expect(line["v"] == 1)
                switch (line["type"]?.string, line["state"]?.string) {
                case ("state", "connected"): connected = line
                case ("message", _): message = line
                case ("verdict", _): verdict = line
                default: break
                }
            }
            #expect(connected?["installation"]?.string != nil && message?["payload"]?["msg"] == "hällo")
            #expect(verdict?["result"] == "newData")
        }
        withExtendedLifetime(observer) {}
    }

    @Test func anAnswerThatComesLaterCountsOnce() async throws {
        let completions = Channel<kii_push_completion>()
        let stage = CStage { message in
            completions.add(message.pointee.completion)
            return Int32(KII_PUSH_LATER.rawValue)
        }
        try await stage.play { runtime, agent in
            try succeed { kii_push_start(agent, $0) }
            try stage.send(#"{"n": 1}"#, as: agent)
            let first = completions.next()
            // Both arguments are invalid, so the message stays unanswered.
            expectFailure(KII_PUSH_E_ARGUMENT) { kii_push_complete(first, Int32(KII_PUSH_LATER.rawValue), $0) }
            expectFailure(KII_PUSH_E_ARGUMENT) { kii_push_fail(first, nil, 1, $0) }
            try succeed { kii_push_reject(first, "not mine", 8, $0) }
            expectFailure(KII_PUSH_E_HANDLE) { kii_push_complete(first, 0, $0) }
            var letters = try stage.deadLetters(runtime)
            while letters.isEmpty { letters = try stage.deadLetters(runtime) }
            #expect(letters.first?["reason"] == "rejected: not mine")
            let id = try #require(letters.first?["id"]?.int64)
            try succeed { kii_push_retry(runtime, id, $0) }
            let second = completions.next()
            #expect(second != first)
            expectFailure(KII_PUSH_E_STATE) { kii_push_drop(runtime, id, $0) }
            try succeed { kii_push_complete(second, 0, $0) }
            expectFailure(KII_PUSH_E_HANDLE) { kii_push_reject(second, "", 0, $0) }
            #expect(try stage.deadLetters(runtime).isEmpty)
        }
    }

    @Test func aDeadLetterSaysWhyItsLastAttemptFailed() async throws {
        let stage = CStage { message in
            _ = kii_push_fail(message.pointee.completion, "no such order", 13, nil)
            return Int32(KII_PUSH_LATER.rawValue)
        }
        try await stage.play([("retryDelays", [])]) { runtime, agent in
            try succeed { kii_push_start(agent, $0) }
            try stage.send(#"{"n": 1}"#, as: agent)
            var letters = try stage.deadLetters(runtime)
            while letters.isEmpty { letters = try stage.deadLetters(runtime) }
            #expect(letters.first?["reason"]?.string?.hasSuffix("threw: no such order") == true, "\(letters)")
        }
    }

    @Test func whatWouldWaitForItselfIsAnsweredInAHandler() async throws {
        let codes = Channel<[Int32]>()
        let copies = Channel<Copy>()
        let handles = Locked<(runtime: UInt64, agent: UInt64)>((0, 0))
        let observed = Channel<Int32>()
        let observer = CObserver { _ in
            let (runtime, agent) = handles.withLock { $0 }
            var (text, length): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
            for code in [
                kii_push_dead_letters(runtime, 0, &text, &length, nil), kii_push_close(runtime, nil),
                kii_push_call(agent, "GET", "/users/me", nil, nil, 0, nil, nil, nil), kii_push_wait(agent, -1, nil),
            ] { observed.add(code) }
        }
        let stage = CStage { message in
            let (runtime, agent) = handles.withLock { $0 }
            copies.add(Copy(message: message.pointee))
            codes.add([
                kii_push_close(runtime, nil), kii_push_wait(agent, -1, nil), kii_push_run(runtime, nil),
                kii_push_call(agent, "GET", "/users/me", nil, nil, 0, nil, nil, nil),
                kii_push_complete(message.pointee.completion, Int32(KII_PUSH_NO_DATA.rawValue), nil),
                CStage.field(message, "n") == "1" ? 0 : -1,
            ])
            return 77
        }
        try await stage.play { runtime, agent in
            handles.withLock { $0 = (runtime, agent) }
            try observer.observe(agent)
            try succeed { kii_push_start(agent, $0) }
            for _ in 0..<4 { #expect(observed.next() == 9) }
            try stage.send(#"{"n": 1}"#, as: agent)
            #expect(codes.next() == [9, 9, 70, 0, 0, 0])
            var copy = copies.next().message
            var (value, length): (UnsafePointer<CChar>?, Int) = (nil, 0)
            // The handler may still be returning.
            while kii_push_field(&copy, "n", 1, &value, &length, nil) == 0 {}
            expectFailure(KII_PUSH_E_HANDLE) { kii_push_field(&copy, "n", 1, &value, &length, $0) }
            // The answer inside the handler counted, and the returned 77 did not: message 1 is done.
            try stage.send(#"{"n": 2}"#, as: agent)
            #expect(codes.next().last == -1)
        }
        withExtendedLifetime(observer) {}
    }

    /// A copy of a handler's message, with dangling pointers.
    private struct Copy: @unchecked Sendable {
        let message: kii_push_message
    }

    @Test func aHandlerThatNeverReturnsHoldsNothingUp() async throws {
        let (begun, release) = (Channel<kii_push_completion>(), DispatchSemaphore(value: 0))
        let read = Channel<String?>()
        let stage = CStage { message in
            begun.add(message.pointee.completion)
            release.wait()
            // The message stays valid until its handler returns.
            read.add(CStage.field(message, "n"))
            return Int32(KII_PUSH_NEW_DATA.rawValue)
        }
        try await stage.play { runtime, agent in
            try succeed { kii_push_start(agent, $0) }
            try stage.send(#"{"n": 1}"#, as: agent)
            let completion = begun.next()
            try succeed { kii_push_close(runtime, $0) }
            expectFailure(KII_PUSH_E_HANDLE) { kii_push_complete(completion, 0, $0) }
            expectFailure(KII_PUSH_E_HANDLE) { kii_push_start(agent, $0) }
            release.signal()
            #expect(read.next() == "1")
        }
        let ledger = stage.inbox.withLock { $0 }
        #expect(ledger?.received == 1 && ledger?.done == 0)
    }
}
