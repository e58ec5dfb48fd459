import KiiPushCore
import Testing

private let objectPaths: [(Scope, String)] = [
    (.app, "/apps/a1/buckets/b"), (.user("u1"), "/apps/a1/users/u1/buckets/b"),
    (.group("g1"), "/apps/a1/groups/g1/buckets/b"), (.thing("th.1"), "/apps/a1/things/th.1/buckets/b"),
]

let objectCalls: [EndpointRow] = objectPaths.flatMap { scope, path -> [EndpointRow] in
    let bucket = Bucket("b", in: scope)
    let reference = ObjectReference("o.1", in: bucket)
    return [
        EndpointRow(
            name: "create an object in \(scope)", method: "POST", target: path + "/objects", authorization: bearerField,
            mediaType: "application/json", body: #"{"score":1.50,"tags":["a",null]}"#, successes: [201],
            reply: #"{"objectID":"o.1","createdAt":7,"dataType":"application/json"}"#,
            refusals: [(400, "INVALID_BUCKET")]
        ) { client in
            let fields = try JSONValue(parsing: #"{"score":1.50,"tags":["a",null]}"#)
            let object = try await client.createObject(fields, in: bucket, token: testToken)
            let moment = Timestamp(millisecondsSinceEpoch: 7)
            #expect(object == StoredObject(reference: reference, createdAt: moment, modifiedAt: moment))
        },
        EndpointRow(
            name: "put an object in \(scope)", method: "PUT", target: path + "/objects/o.1", authorization: bearerField,
            mediaType: "application/json", body: #"{"n":1}"#, successes: [200, 201], reply: #"{"modifiedAt":9}"#,
            refusals: [(404, "BUCKET_NOT_FOUND")]
        ) { client in
            let object = try await client.putObject(["n": 1], as: reference, token: testToken)
            let moment = Timestamp(millisecondsSinceEpoch: 9)
            #expect(object == StoredObject(reference: reference, createdAt: nil, modifiedAt: moment))
        },
        EndpointRow(
            name: "delete an object in \(scope)", method: "DELETE", target: path + "/objects/o.1",
            authorization: bearerField, successes: [200, 204], reply: "", refusals: [(404, "OBJECT_NOT_FOUND")]
        ) { client in try await client.deleteObject(reference, token: testToken) },
        EndpointRow(
            name: "patch an object in \(scope)", method: "PATCH", target: path + "/objects/o.1",
            authorization: bearerField, mediaType: "application/json", body: #"{"score":5000}"#, successes: [200],
            reply: #"{"score":5000,"name":"x","_created":7,"_modified":9,"_id":"o.1","_version":"3"}"#,
            refusals: [(404, "OBJECT_NOT_FOUND"), (404, "BUCKET_NOT_FOUND")]
        ) { client in
            let object = try await client.patchObject(["score": 5000], of: reference, token: testToken)
            let moments = [7, 9].map { Timestamp(millisecondsSinceEpoch: $0) }
            #expect(object == StoredObject(reference: reference, createdAt: moments[0], modifiedAt: moments[1]))
        },
        EndpointRow(
            name: "read an object in \(scope)", method: "GET", target: path + "/objects/o.1",
            authorization: bearerField, successes: [200], reply: #"{"_id":"o.1","n":1.50}"#,
            refusals: [(404, "OBJECT_NOT_FOUND"), (404, "BUCKET_NOT_FOUND")]
        ) { client in
            let object = try await client.object(reference, token: testToken)
            #expect(object == ["_id": "o.1", "n": 1.5])
        },
        EndpointRow(
            name: "upload an object's body in \(scope)", method: "PUT", target: path + "/objects/o.1/body",
            authorization: bearerField, mediaType: "text/plain", body: "hello", successes: [200, 201, 204],
            reply: #"{"modifiedAt":9}"#, refusals: [(404, "OBJECT_NOT_FOUND"), (404, "BUCKET_NOT_FOUND")]
        ) { client in
            let object = try await client.uploadBody(
                Array("hello".utf8), mediaType: "text/plain", of: reference, token: testToken)
            let moment = Timestamp(millisecondsSinceEpoch: 9)
            #expect(object == StoredObject(reference: reference, createdAt: nil, modifiedAt: moment))
        },
        EndpointRow(
            name: "upload an empty body in \(scope)", method: "PUT", target: path + "/objects/o.1/body",
            authorization: bearerField, mediaType: "application/octet-stream", body: "", successes: [200, 201, 204],
            reply: "", refusals: [(404, "OBJECT_NOT_FOUND")]
        ) { client in
            let object = try await client.uploadBody([], of: reference, token: testToken)
            #expect(object == StoredObject(reference: reference))
        },
        EndpointRow(
            name: "read an object's body in \(scope)", method: "GET", target: path + "/objects/o.1/body",
            authorization: bearerField, successes: [200], reply: "hello",
            refusals: [(404, "OBJECT_NOT_FOUND"), (404, "OBJECT_BODY_NOT_FOUND")]
        ) { client in
            let body = try await client.body(of: reference, token: testToken)
            #expect(body == ObjectBody(bytes: Array("hello".utf8), mediaType: nil))
        },
        EndpointRow(
            name: "delete an object's body in \(scope)", method: "DELETE", target: path + "/objects/o.1/body",
            authorization: bearerField, successes: [200, 204], reply: "",
            refusals: [(404, "OBJECT_NOT_FOUND"), (404, "OBJECT_BODY_NOT_FOUND")]
        ) { client in try await client.deleteBody(of: reference, token: testToken) },
        EndpointRow(
            name: "delete a bucket in \(scope)", method: "DELETE", target: path, authorization: bearerField,
            successes: [200, 204], reply: "", refusals: [(404, "BUCKET_NOT_FOUND")]
        ) { client in try await client.deleteBucket(bucket, token: testToken) },
    ]
}
