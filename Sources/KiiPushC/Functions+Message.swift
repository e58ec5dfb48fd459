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
        let number = UInt64(UInt(bitPattern: message.pointee.fields))
        let field = try HandlerCall.handOut(number, "such member") { $0.member(name) }
        (start.pointee, count.pointee) = (UnsafePointer(field.start), field.length)
    }
}

/// See `kii_push.h`.
@c @implementation
public func kii_push_source(
    _ message: UnsafePointer<kii_push_message>!, _ value: UnsafeMutablePointer<UnsafePointer<CChar>?>!,
    _ value_length: UnsafeMutablePointer<Int>!, _ error: UnsafeMutablePointer<kii_push_error>!
) -> Int32 {
    answering(error) { () throws(CFailure) in
        guard let message else { throw .argument("message is null") }
        let (start, count) = (try required(value, "value"), try required(value_length, "value_length"))
        let number = UInt64(UInt(bitPattern: message.pointee.fields))
        let source = try HandlerCall.handOut(number, "topic and no bucket") { $0.source }
        (start.pointee, count.pointee) = (UnsafePointer(source.start), source.length)
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
        try HandlerCall.complete(completion) { $0(result) }
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

extension HandlerCall.Content {
    /// A member by the sender's name for it, or by Kii's, whichever keys the payload is written with: text as it is, anything
    /// else as JSON.
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

    /// The address of the topic or bucket.
    fileprivate var source: [UInt8]? {
        guard case .message(let message) = self else { return nil }
        let address = message.sourceTopic.map(KiiURI.topic) ?? message.sourceBucket.map(KiiURI.bucket)
        return address.map { Array($0.description.utf8) }
    }
}
