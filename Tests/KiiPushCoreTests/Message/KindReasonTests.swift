import KiiPushCore
import Testing

@Suite struct KindReasonTests {
    @Test(arguments: GoldenPayload.mqtt + GoldenPayload.gcm + GoldenPayload.apns)
    func decidesWhatTheDecoderSays(payload: GoldenPayload) throws {
        let message = try ReceivedMessage(payload: Array(payload.text.utf8))
        #expect(message.kindReason.kind == payload.kind)
        #expect(message.kind == payload.kind)
        let key = message.kindReason.field?.key(in: message.keyFamily)
        #expect(key == nil || message[key ?? ""] != nil)
    }

    private static let firstOfSeveral: [(String, KindReason)] = [
        (#"{"topic":"t","origin":"EVENT","bucketType":"rw","bucketID":"b"}"#, .field(.bucketID)),
        (#"{"topic":"t","origin":"EVENT","bucketType":null}"#, .field(.bucketType)),
        (#"{"topic":"t","origin":"EVENT","objectID":"o","modifiedAt":1}"#, .eventOrigin),
        (#"{"topic":"t","origin":"EXPLICIT","objectID":"o","modifiedAt":1}"#, .field(.topic)),
        (#"{"origin":"EXPLICIT","objectID":"o","modifiedAt":1}"#, .noKey),
        (#"{"aps":{},"to":"t","om":1,"oi":"o","bt":"rw","bi":"b"}"#, .field(.bucketID)),
        (#"{"aps":{},"to":"t","om":1,"oi":"o","bt":"rw"}"#, .field(.bucketType)),
        (#"{"aps":{},"to":"t","om":1,"oi":"o"}"#, .field(.objectID)),
        (#"{"aps":{},"to":"t","om":1,"o":"EVENT"}"#, .field(.objectModifiedAt)),
        (#"{"aps":{},"to":"t","o":"EVENT"}"#, .field(.topic)),
        (#"{"aps":{},"o":"EVENT","origin":"EVENT"}"#, .noKey),
    ]

    @Test(arguments: firstOfSeveral)
    func namesTheFirstOfSeveralKeys(payload: String, reason: KindReason) throws {
        #expect(try ReceivedMessage(payload: Array(payload.utf8)).kindReason == reason)
    }
}
