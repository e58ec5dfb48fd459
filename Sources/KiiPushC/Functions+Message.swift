// swift-format-ignore-file: AlwaysUseLowerCamelCase
public import CKiiPush
import KiiPushCore

/// See `kii_push.h`.
@c @implementation
public func kii_push_field(
    _ message: UnsafePointer<kii_push_message>!, _ name: UnsafePointer<CChar>!, _ name_length: Int,
    _ value: UnsafeMutablePointer<UnsafePointer<CChar>?>!, _ value_length: UnsafeMutablePointer<Int>!,
    _ error: UnsafeMutablePointer<kii_push_error>!
) -> Int32 {
    answering(error) { () throws(CFailure) in
        guard let message else { throw .argument("message is null") }
        let (start, count) = (try required(value, "value"), try required(value_length, "value_length"))
        let name = try text(name, name_length, "name")
        let field = try call(UInt64(UInt(bitPattern: message.pointee.fields))).field(name)
        (start.pointee, count.pointee) = (UnsafePointer(field.start), field.length)
    }
}

/// See `kii_push.h`.
@c @implementation
public func kii_push_complete(
    _ completion: kii_push_completion, _ result: Int32, _ error: UnsafeMutablePointer<kii_push_error>!
) -> Int32 {
    answering(error) { () throws(CFailure) in
        guard let result = FetchResult(code: result) else {
            throw .argument("result has to be KII_PUSH_NEW_DATA, KII_PUSH_NO_DATA or KII_PUSH_FAILED")
        }
        try complete(completion) { $0(result) }
    }
}

/// See `kii_push.h`.
@c @implementation
public func kii_push_reject(
    _ completion: kii_push_completion, _ reason: UnsafePointer<CChar>!, _ length: Int,
    _ error: UnsafeMutablePointer<kii_push_error>!
) -> Int32 {
    answering(error) { () throws(CFailure) in
        let reason = try text(reason, length, "reason")
        try complete(completion) { $0.reject(reason) }
    }
}

private func complete(_ number: UInt64, _ answer: (FetchCompletion) -> Bool) throws(CFailure) {
    let isOver = try call(number).complete(answer)
    if isOver { handles.withLock { $0.remove(call: number) } }
}
