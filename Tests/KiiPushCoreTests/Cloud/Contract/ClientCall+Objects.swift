import Contract
import KiiPushCore
import Testing

private func moment(_ milliseconds: Int64) -> Timestamp { Timestamp(millisecondsSinceEpoch: milliseconds) }

extension ClientCall {
    static let objects: [ClientCall] = [
        ClientCall(id: "objects.create", method: "createObject(_:in:token:)") { client, variant in
            let fields = try JSONValue(parsing: #"{"score":1.50,"tags":["a",null]}"#)
            let object = try await client.createObject(fields, in: variant.bucket, token: testToken)
            #expect(object == StoredObject(reference: variant.object, createdAt: moment(7), modifiedAt: moment(7)))
        },
        ClientCall(
            id: "objects.put",
            method: "putObject(_:as:token:)",
            reply: ["modifiedAt": 9]
        ) { client, variant in
            let object = try await client.putObject(["n": 1], as: variant.object, token: testToken)
            #expect(object == StoredObject(reference: variant.object, createdAt: nil, modifiedAt: moment(9)))
        },
        ClientCall(
            id: "objects.patch",
            method: "patchObject(_:of:token:)",
            reply: ["n": 2, "_created": 7, "_modified": 9, "_id": "o-1", "_version": "3"]
        ) { client, variant in
            let object = try await client.patchObject(["n": 2], of: variant.object, token: testToken)
            #expect(object == StoredObject(reference: variant.object, createdAt: moment(7), modifiedAt: moment(9)))
        },
        ClientCall(id: "objects.get", method: "object(_:token:)") { client, variant in
            let object = try await client.object(variant.object, token: testToken)
            #expect(object["_id"] == "o-1" && object["score"] == 1)
        },
        ClientCall(id: "objects.body.put", method: "uploadBody(_:mediaType:of:token:)") { client, variant in
            let object = try await client.uploadBody(
                [0x89, 0x50],
                mediaType: "image/png",
                of: variant.object,
                token: testToken
            )
            #expect(object.reference == variant.object)
        },
        ClientCall(
            id: "objects.body.put",
            method: "uploadBody(_:mediaType:of:token:)",
            note: "of no bytes and no type",
            mediaType: "application/octet-stream"
        ) { client, variant in
            let object = try await client.uploadBody([], of: variant.object, token: testToken)
            #expect(object.reference == variant.object)
        },
        ClientCall(id: "objects.body.get", method: "body(of:token:)") { client, variant in
            let body = try await client.body(of: variant.object, token: testToken)
            #expect(body.bytes.isEmpty)
        },
        ClientCall(id: "objects.body.delete", method: "deleteBody(of:token:)") { client, variant in
            try await client.deleteBody(of: variant.object, token: testToken)
        },
        ClientCall(id: "buckets.delete", method: "deleteBucket(_:token:)") { client, variant in
            try await client.deleteBucket(variant.bucket, token: testToken)
        },
        ClientCall(id: "objects.delete", method: "deleteObject(_:token:)") { client, variant in
            try await client.deleteObject(variant.object, token: testToken)
        },
    ]
}
