// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CKiiPush
import Glibc
import KiiPushCore

// The header documents these functions, and the compiler checks their signatures against it.

/// See `kii_push.h`.
@c @implementation
public func kii_push_api() -> UInt32 { UInt32(KII_PUSH_API) }

/// See `kii_push.h`.
@c @implementation
public func kii_push_open(
    _ api: UInt32, _ json: UnsafePointer<CChar>!, _ length: Int, _ runtime: UnsafeMutablePointer<kii_push_runtime>!,
    _ error: UnsafeMutablePointer<kii_push_error>!
) -> Int32 {
    answering(error) { () throws(CFailure) in
        guard api / 1000 == kii_push_api() / 1000, api <= kii_push_api() else {
            throw CFailure(
                KII_PUSH_E_VERSION,
                "the program was built for interface \(api) of kii_push.h, and this library has \(kii_push_api()); "
                    + (api > kii_push_api() ? "install a newer libkiipush" : "build the program anew"))
        }
        let handle = try required(runtime, "runtime")
        let json = json == nil && length == 0 ? nil : try text(json, length, "json")
        let configuration = try CFailure.reading(PushRuntime.Configuration(json: json))
        let opened = try OpenRuntime(configuration)
        claimProcess()
        handle.pointee = handles.withLock { $0.add(opened) }
    }
}

/// See `kii_push.h`.
@c @implementation
public func kii_push_close(_ runtime: kii_push_runtime, _ error: UnsafeMutablePointer<kii_push_error>!) -> Int32 {
    answering(error) { () throws(CFailure) in
        guard Callback.current == nil else { throw .callback("kii_push_close") }
        guard let opened = handles.withLock({ $0.remove(runtime: runtime) }) else { throw .handle("runtime") }
        try close(opened)
    }
}

/// See `kii_push.h`.
@c @implementation
public func kii_push_run(_ runtime: kii_push_runtime, _ error: UnsafeMutablePointer<kii_push_error>!) -> Int32 {
    // EX_SOFTWARE, for a programming error.
    var status: Int32 = 70
    _ = answering(error) { () throws(CFailure) in
        guard Callback.current == nil else { throw .callback("kii_push_run") }
        let served = try KiiPushC.runtime(runtime)
        let end = try waiting("kii_push_run") { try await served.serve() }
        status = end.status
        if handles.withLock({ $0.remove(runtime: runtime) }) != nil { try close(served) }
        if let failure = end.error { throw CFailure(failure) }
    }
    return status
}

/// Ends unanswered handler calls last, so that the program may answer these calls until the runtime has stopped.
private func close(_ runtime: OpenRuntime) throws(CFailure) {
    try waiting("kii_push_close") { await runtime.close() }
    runtime.waitForObservers()
    _ = handles.withLock { [id = ObjectIdentifier(runtime)] in $0.calls.end(id) }
}

/// See `kii_push.h`.
@c @implementation
public func kii_push_dead_letters(
    _ runtime: kii_push_runtime, _ after: Int64, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>!,
    _ length: UnsafeMutablePointer<Int>!, _ error: UnsafeMutablePointer<kii_push_error>!
) -> Int32 {
    answering(error) { () throws(CFailure) in
        let (text, count) = (try required(json, "json"), try required(length, "length"))
        let runtime = try KiiPushC.runtime(runtime).runtime
        let letters = try waiting("kii_push_dead_letters") {
            var letters: [JSONValue] = []
            for try await letter in runtime.deadLetters(after: after) {
                letters.append(letter.deadLetter)
                if letters.count == 100 { break }
            }
            return letters
        }
        let bytes = JSONValue(letters).serialized()
        text.pointee = try duplicate(bytes)
        count.pointee = bytes.count
    }
}

/// See `kii_push.h`.
@c @implementation
public func kii_push_retry(
    _ runtime: kii_push_runtime, _ id: Int64, _ error: UnsafeMutablePointer<kii_push_error>!
) -> Int32 {
    answering(error) { () throws(CFailure) in
        let runtime = try KiiPushC.runtime(runtime).runtime
        let isRetried = try waiting("kii_push_retry") { try await runtime.retryDeadLetter(id) }
        guard isRetried else { throw .state("there is no dead letter \(id) that can be tried again") }
    }
}

/// See `kii_push.h`.
@c @implementation
public func kii_push_drop(
    _ runtime: kii_push_runtime, _ id: Int64, _ error: UnsafeMutablePointer<kii_push_error>!
) -> Int32 {
    answering(error) { () throws(CFailure) in
        let runtime = try KiiPushC.runtime(runtime).runtime
        let isDropped = try waiting("kii_push_drop") { try await runtime.dropDeadLetter(id) }
        guard isDropped else { throw .state("there is no dead letter \(id)") }
    }
}

/// See `kii_push.h`.
@c @implementation
public func kii_push_free(_ text: UnsafeMutablePointer<CChar>!) { free(text) }

extension MessageRecord {
    fileprivate var deadLetter: JSONValue {
        let reason = if case .dead(let reason) = self.state { reason.description } else { "" }
        let text = String(validating: self.payload, as: UTF8.self)
        return .object(present: [
            "id": self.messageID, "received_at": self.receivedAt.description, "attempts": self.attempts,
            "reason": reason, "payload": text, "payload_base64": text == nil ? Base64.encode(self.payload) : nil,
        ])
    }
}
