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
    ]
}
