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
    handingOut(message, value, value_length, error) { content throws(CFailure) in
        let name = try text(name, name_length, "name")
        guard let member = content.member(name) else { throw .state("the message has no such member") }
        return member
    }
}

/// See `kii_push.h`.
@c @implementation
public func kii_push_source(
    _ message: UnsafePointer<kii_push_message>!, _ value: UnsafeMutablePointer<UnsafePointer<CChar>?>!,
    _ value_length: UnsafeMutablePointer<Int>!, _ error: UnsafeMutablePointer<kii_push_error>!
) -> Int32 {
    handingOut(message, value, value_length, error) { content throws(CFailure) in
        guard let source = content.source else { throw .state("the message names no topic and no bucket") }
        return source
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
        try HandlerCall.complete(completion, isSuccess: result != .failed) { $0(result) }
    }
}

/// See `kii_push.h`.
@c @implementation
public func kii_push_fail(
    _ completion: kii_push_completion, _ reason: UnsafePointer<CChar>!, _ length: Int,
    _ error: UnsafeMutablePointer<kii_push_error>!
) -> Int32 {
    answering(error) { () throws(CFailure) in
        let reason = try text(reason, length, "reason")
        try HandlerCall.complete(completion) { $0.fail(because: reason) }
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
        try HandlerCall.complete(completion) { $0.reject(reason) }
    }
}

private func handingOut(
    _ message: UnsafePointer<kii_push_message>?, _ value: UnsafeMutablePointer<UnsafePointer<CChar>?>?,
    _ length: UnsafeMutablePointer<Int>?, _ error: UnsafeMutablePointer<kii_push_error>?,
    _ read: (HandlerCall.Content) throws(CFailure) -> [UInt8]
) -> Int32 {
    answering(error) { () throws(CFailure) in
        guard let message else { throw .argument("message is null") }
        let (value, length) = (try required(value, "value"), try required(length, "value_length"))
        let text = try HandlerCall.handOut(UInt64(UInt(bitPattern: message.pointee.fields)), read)
        (value.pointee, length.pointee) = (UnsafePointer(text.start), text.length)
    }
}

extension HandlerCall.Content {
    /// Finds a member by the sender's name or by Kii's long name. Returns a string as it is, another value as JSON.
    fileprivate func member(_ name: String) -> [UInt8]? {
        let value =
            switch self {
            case .message(let message):
                message[name]
                    ?? MessageField.allCases.first { $0.key(in: .long) == name }
                    .flatMap { message.value(of: $0) }.map { JSONValue($0) }
            case .command(let command): command.rawPayload[name]
            }
        return value.map { value in value.string.map { Array($0.utf8) } ?? value.serialized() }
    }

    fileprivate var source: [UInt8]? {
        guard case .message(let message) = self else { return nil }
        let address = message.sourceTopic.map(KiiURI.topic) ?? message.sourceBucket.map(KiiURI.bucket)
        return address.map { Array($0.description.utf8) }
    }
}
