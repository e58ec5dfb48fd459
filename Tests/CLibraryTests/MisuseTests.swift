import CKiiPush
import Glibc
import KiiPushCore
import TestSupport
import Testing

/// Mistakes of a program, without a cloud: the function fails, and later calls work.
@Suite struct MisuseTests {
    private static let agentJSON =
        #"{"app": {"id": "a", "key": "k", "baseURL": "http://127.0.0.1:1/api"}, "account": {"type": "pseudoUser"}}"#

    private static func agent(in runtime: kii_push_runtime) throws -> kii_push_agent {
        var agent: kii_push_agent = 0
        try succeed {
            kii_push_agent_new(runtime, Self.agentJSON, Self.agentJSON.utf8.count, { _, _ in 0 }, nil, &agent, $0)
        }
        return agent
    }

    @Test func nullPointersAreAnswered() async throws {
        try await withRuntime { runtime in
            let json = Self.agentJSON
            var handle: UInt64 = 0
            var text: UnsafeMutablePointer<CChar>?
            var length = 0
            let agent = try Self.agent(in: runtime)
            let failures = [
                failure { kii_push_open(UInt32(KII_PUSH_API), nil, 0, nil, $0) },
                failure { kii_push_open(UInt32(KII_PUSH_API), nil, 7, &handle, $0) },
                failure { kii_push_agent_new(runtime, json, json.utf8.count, nil, nil, &handle, $0) },
                failure { kii_push_agent_new(runtime, json, json.utf8.count, { _, _ in 0 }, nil, nil, $0) },
                failure { kii_push_agent_new(runtime, nil, 0, { _, _ in 0 }, nil, &handle, $0) },
                failure { kii_push_observe(agent, nil, nil, $0) },
                failure { kii_push_dead_letters(runtime, 0, nil, &length, $0) },
                failure { kii_push_dead_letters(runtime, 0, &text, nil, $0) },
                failure { kii_push_call(agent, nil, "/users/me", nil, nil, 0, nil, nil, $0) },
                failure { kii_push_call(agent, "GET", nil, nil, nil, 0, nil, nil, $0) },
                failure { kii_push_call(agent, "GET", "/users/me", nil, nil, 0, &text, nil, $0) },
                failure { kii_push_call(agent, "PUT", "/users/me", nil, nil, 3, nil, nil, $0) },
                failure { kii_push_send(agent, nil, "{}", 2, nil, $0) },
                failure { kii_push_send(agent, "user:me", nil, 0, nil, $0) },
                failure { kii_push_field(nil, "msg", 3, nil, nil, $0) },
                failure { kii_push_source(nil, nil, nil, $0) },
                failure { kii_push_reject(1, nil, 0, $0) }, failure { kii_push_fail(1, nil, 0, $0) },
            ]
            expectFailures(failures, KII_PUSH_E_ARGUMENT)
            kii_push_free(nil)
            #expect(kii_push_start(0, nil) == Int32(KII_PUSH_E_HANDLE.rawValue))
        }
    }

    @Test func lengthsAndTextsAreChecked() async throws {
        try await withRuntime { runtime in
            var handle: UInt64 = 0
            let agent = try Self.agent(in: runtime)
            let long = String(repeating: "/", count: 5 << 20)
            let failures = [
                failure { kii_push_open(UInt32(KII_PUSH_API), "{}", -1, &handle, $0) },
                failure { kii_push_open(UInt32(KII_PUSH_API), "{}", .max, &handle, $0) },
                failure { kii_push_open(UInt32(KII_PUSH_API), [CChar(bitPattern: 0xff)], 1, &handle, $0) },
                failure { kii_push_call(agent, "TRACE", "/users/me", nil, nil, 0, nil, nil, $0) },
                failure { kii_push_call(agent, "GET", "users/me", nil, nil, 0, nil, nil, $0) },
                failure { kii_push_call(agent, "GET", "/users/../x", nil, nil, 0, nil, nil, $0) },
                failure { kii_push_call(agent, "GET", "/users/a b", nil, nil, 0, nil, nil, $0) },
                failure { kii_push_call(agent, "GET", long, nil, nil, 0, nil, nil, $0) },
                failure { kii_push_call(agent, "PUT", "/users/me", nil, "x", -1, nil, nil, $0) },
                failure { kii_push_send(agent, "alerts", "{}", 2, nil, $0) },
                failure { kii_push_send(agent, "topic:here/alerts", "{}", 2, nil, $0) },
                failure { kii_push_send(agent, "topic:a b", "{}", 2, nil, $0) },
                failure { kii_push_complete(1, Int32(KII_PUSH_LATER.rawValue), $0) },
                failure { kii_push_complete(1, -7, $0) },
            ]
            expectFailures(failures, KII_PUSH_E_ARGUMENT)
        }
    }

    @Test func handlesThatEndedOrAreOfAnotherKindAreTold() async throws {
        let ended = Locked<[UInt64]>([])
        try await withRuntime { runtime in
            let agent = try Self.agent(in: runtime)
            ended.withLock { $0 = [0, runtime, agent, .max] }
            Self.expectHandleFailures(
                runtimes: [0, agent, .max], agents: [0, runtime, .max], [0, runtime, agent, .max])
        }
        let all = ended.withLock { $0 }
        try await onThread { Self.expectHandleFailures(runtimes: all, agents: all, all) }
    }

    private static func expectHandleFailures(runtimes: [UInt64], agents: [UInt64], _ completions: [UInt64]) {
        var handle: UInt64 = 0
        var text: UnsafeMutablePointer<CChar>?
        var length = 0
        let json = Self.agentJSON
        for runtime in runtimes {
            let failures = [
                failure { kii_push_close(runtime, $0) },
                failure { kii_push_agent_new(runtime, json, json.utf8.count, { _, _ in 0 }, nil, &handle, $0) },
                failure { kii_push_dead_letters(runtime, 0, &text, &length, $0) },
                failure { kii_push_retry(runtime, 1, $0) }, failure { kii_push_drop(runtime, 1, $0) },
            ]
            expectFailures(failures, KII_PUSH_E_HANDLE)
            var error = kii_push_error()
            #expect(kii_push_run(runtime, &error) == 70 && error.code == Int32(KII_PUSH_E_HANDLE.rawValue))
        }
        for agent in agents {
            let failures = [
                failure { kii_push_register(agent, $0) }, failure { kii_push_start(agent, $0) },
                failure { kii_push_stop(agent, $0) }, failure { kii_push_wait(agent, 0, $0) },
                failure { kii_push_observe(agent, { _, _, _ in }, nil, $0) },
                failure { kii_push_call(agent, "GET", "/users/me", nil, nil, 0, nil, nil, $0) },
                failure { kii_push_send(agent, "user:me", "{}", 2, nil, $0) },
            ]
            expectFailures(failures, KII_PUSH_E_HANDLE)
        }
        for completion in completions {
            let message = kii_push_message(
                completion: completion, id: 1, received_at: 0, attempt: 1, kind: 1, payload: nil, payload_length: 0,
                fields: UnsafeRawPointer(bitPattern: UInt(completion)))
            var value: UnsafePointer<CChar>?
            let failures = [
                failure { kii_push_complete(completion, 0, $0) }, failure { kii_push_reject(completion, "no", 2, $0) },
                failure { kii_push_fail(completion, "no", 2, $0) },
                failure { error in
                    withUnsafePointer(to: message) { kii_push_field($0, "msg", 3, &value, &length, error) }
                },
                failure { error in withUnsafePointer(to: message) { kii_push_source($0, &value, &length, error) } },
            ]
            expectFailures(failures, KII_PUSH_E_HANDLE)
        }
    }

    @Test func nobodyIsToldToStopTheOwnProcess() async throws {
        try await withTemporaryDirectory { directory in
            try await onThread {
                let json = #"{"stateDirectory": "\#(directory)/state"}"#
                var runtimes: [kii_push_runtime] = [0, 0]
                for index in 0...1 {
                    try succeed { kii_push_open(UInt32(KII_PUSH_API), json, json.utf8.count, &runtimes[index], $0) }
                }
                defer { for runtime in runtimes { _ = kii_push_close(runtime, nil) } }
                var (text, length): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
                try succeed { kii_push_dead_letters(runtimes[0], 0, &text, &length, $0) }
                kii_push_free(text)
                let refused = failure { kii_push_dead_letters(runtimes[1], 0, &text, &length, $0) }
                #expect(refused?.code == KII_PUSH_E_FILE)
                #expect(
                    refused?.text.hasSuffix(
                        "is in use by process \(getpid()), another runtime of this process or a process of another "
                            + "container; stop that one, or use another state directory") == true,
                    "\(refused?.text ?? "")")
            }
        }
    }

    @Test func whatCannotBeDoneNowIsTold() async throws {
        try await withRuntime(#", "shutdownGrace": 1"#) { runtime in
            var error = kii_push_error()
            #expect(kii_push_run(runtime, &error) == 70 && error.code == Int32(KII_PUSH_E_STATE.rawValue))
            let agent = try Self.agent(in: runtime)
            expectFailure(KII_PUSH_E_STATE) { kii_push_wait(agent, -1, $0) }
            expectFailure(KII_PUSH_E_STATE) { kii_push_stop(agent, $0) }
            expectFailure(KII_PUSH_E_STATE) { kii_push_drop(runtime, 1, $0) }
            expectFailure(KII_PUSH_E_STATE) { kii_push_retry(runtime, 1, $0) }
            // The cloud's port refuses connections; an agent keeps trying.
            try succeed { kii_push_start(agent, $0) }
            expectFailure(KII_PUSH_E_STATE) { kii_push_start(agent, $0) }
            expectFailure(KII_PUSH_E_STATE) { kii_push_register(agent, $0) }
            #expect(kii_push_run(runtime, &error) == 70 && error.code == Int32(KII_PUSH_E_STATE.rawValue))
            let timeout = failure { kii_push_wait(agent, 1, $0) }
            #expect(timeout?.code == KII_PUSH_E_TIMEOUT && timeout?.error.temporary == 1)
            try succeed { kii_push_stop(agent, $0) }
            try succeed { kii_push_wait(agent, .max, $0) }
            let network = failure { kii_push_register(agent, $0) }
            #expect(network?.code == KII_PUSH_E_NETWORK && network?.error.temporary == 1, "\(network?.text ?? "")")
        }
    }

    @Test func longTextsAreCutAtACharacter() async throws {
        try await withRuntime { runtime in
            let name = String(repeating: "é", count: 1000)
            let json = #"{"\#(name)": 1}"#
            var agent: kii_push_agent = 0
            let failure = failure {
                kii_push_agent_new(runtime, json, json.utf8.count, { _, _ in 0 }, nil, &agent, $0)
            }
            #expect(failure?.text == "/" + String(repeating: "é", count: 511))
        }
    }
}
