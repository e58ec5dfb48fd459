import Contract
import TestSupport
import Testing

@testable import KiiPushCore

private func moment(_ milliseconds: Int64) -> Timestamp { Timestamp(millisecondsSinceEpoch: milliseconds) }

extension ClientCall {
    static let objects: [ClientCall] = [
        ClientCall(id: "objects.create", method: "createObject(_:in:)") { client, variant in
            let fields = try JSONValue(parsing: #"{"score":1.50,"tags":["a",null]}"#)
            let object = try await client.session(testToken).createObject(fields, in: variant.bucket)
            #expect(object == StoredObject(reference: variant.object, createdAt: moment(7), modifiedAt: moment(7)))
        },
        ClientCall(
            id: "objects.put",
            method: "putObject(_:as:)",
            reply: ["modifiedAt": 9]
        ) { client, variant in
            let object = try await client.session(testToken).putObject(["n": 1], as: variant.object)
            #expect(object == StoredObject(reference: variant.object, createdAt: nil, modifiedAt: moment(9)))
        },
        ClientCall(
            id: "objects.patch",
            method: "patchObject(_:of:)",
            reply: ["n": 2, "_created": 7, "_modified": 9, "_id": "o-1", "_version": "3"]
        ) { client, variant in
            let object = try await client.session(testToken).patchObject(["n": 2], of: variant.object)
            #expect(object == StoredObject(reference: variant.object, createdAt: moment(7), modifiedAt: moment(9)))
        },
        ClientCall(id: "objects.get", method: "object(_:)") { client, variant in
            let object = try await client.session(testToken).object(variant.object)
            #expect(object["_id"] == "o-1" && object["score"] == 1)
        },
        ClientCall(id: "objects.body.put", method: "uploadBody(_:mediaType:of:)") { client, variant in
            let object = try await client.session(testToken).uploadBody(
                [0x89, 0x50], mediaType: "image/png", of: variant.object)
            #expect(object.reference == variant.object)
        },
        ClientCall(
            id: "objects.body.put",
            method: "uploadBody(_:mediaType:of:)",
            note: "of no bytes and no type",
            mediaType: "application/octet-stream"
        ) { client, variant in
            let object = try await client.session(testToken).uploadBody([], of: variant.object)
            #expect(object.reference == variant.object)
        },
        ClientCall(id: "objects.body.get", method: "body(of:)") { client, variant in
            let body = try await client.session(testToken).body(of: variant.object)
            #expect(body.bytes.isEmpty)
        },
        ClientCall(id: "objects.body.delete", method: "deleteBody(of:)") { client, variant in
            try await client.session(testToken).deleteBody(of: variant.object)
        },
        ClientCall(id: "buckets.delete", method: "deleteBucket(_:)") { client, variant in
            try await client.session(testToken).deleteBucket(variant.bucket)
        },
        ClientCall(id: "objects.delete", method: "deleteObject(_:)") { client, variant in
            try await client.session(testToken).deleteObject(variant.object)
        },
    ]
}
