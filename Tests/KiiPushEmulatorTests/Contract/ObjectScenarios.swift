import Contract
import KiiPushCore

private let onObjects = [
    "objects.get", "objects.put", "objects.patch", "objects.delete", "objects.body.put", "objects.body.get",
    "objects.body.delete",
]

let objectScenarios: [Scenario] =
    onObjects.flatMap { id -> [Scenario] in
        [
            .refusal(id, "INVALID_OBJECT_ID") { request, _ in request.parameters["object"] = "o" },
            .refusal(id, "INVALID_BUCKET") { request, _ in request.parameters["bucket"] = "b" },
        ]
    }
    + ["objects.get", "objects.patch", "objects.delete"].map { .refusal($0, "OBJECT_NOT_FOUND") { _, _ in } }
    + [
        .refusal("objects.put", "OBJECT_NOT_FOUND") { request, _ in
            request.fields = [HTTPField("If-Match", "\"7\"")]
        }
    ]
    + ["objects.put", "objects.patch", "objects.delete"].map {
        .refusal($0, "OBJECT_VERSION_IS_STALE") { request, world in
            try await world.first("objects.put", request)
            request.fields = [HTTPField("If-Match", "\"7\"")]
        }
    }
    + ["buckets.create", "buckets.get", "buckets.delete"].map {
        .refusal($0, "INVALID_BUCKET") { request, _ in request.parameters["bucket"] = "b" }
    } + [
        .success("objects.create"),
        .refusal("objects.put", "OBJECT_ALREADY_EXISTS") { request, world in
            try await world.succeed(request)
            request.fields = [HTTPField("If-None-Match", "*")]
        },
        .refusal("objects.create", "INVALID_BUCKET") { request, _ in request.parameters["bucket"] = "b" },
        .success("objects.get") { request, world in try await world.first("objects.put", request, ["score": 1]) },
        .success("objects.put", 201),
        .success("objects.put", 200) { request, world in try await world.succeed(request) },
        .success("objects.patch") { request, world in try await world.first("objects.put", request) },
        .success("objects.delete") { request, world in try await world.first("objects.put", request) },
        .success("objects.body.put") { request, world in
            try await world.first("objects.put", request)
            request.bytes = [0x89, 0x50]
        },
        .refusal("objects.body.put", "OBJECT_NOT_FOUND") { request, _ in request.bytes = [0x89, 0x50] },
        .success("objects.body.get") { request, world in try await world.upload(request) },
        .refusal("objects.body.get", "OBJECT_NOT_FOUND") { _, _ in },
        .refusal("objects.body.get", "OBJECT_BODY_NOT_FOUND") { request, world in
            try await world.first("objects.put", request)
        },
        .success("objects.body.delete") { request, world in try await world.upload(request) },
        .refusal("objects.body.delete", "OBJECT_NOT_FOUND") { _, _ in },
        .refusal("objects.body.delete", "OBJECT_BODY_NOT_FOUND") { request, world in
            try await world.upload(request)
            try await world.succeed(request)
        },
        .success("buckets.create"),
        .refusal("buckets.create", "INVALID_INPUT_DATA") { request, _ in request.set(["bucketType": "crypto"]) },
        .success("buckets.get") { request, world in try await world.first("objects.put", request) },
        .success("buckets.get", 204) { request, world in
            try await world.first("objects.put", request)
            request.variant.endpoint.method = "HEAD"
        },
        .refusal("buckets.get", "BUCKET_NOT_FOUND") { _, _ in },
        .success("buckets.delete") { request, world in try await world.first("objects.put", request) },
        .refusal("buckets.delete", "BUCKET_NOT_FOUND") { _, _ in },
    ]

extension ContractWorld {
    fileprivate func upload(_ request: ContractRequest) async throws {
        try await self.first("objects.put", request)
        try await self.first("objects.body.put", request, bytes: [0x89, 0x50])
    }
}
