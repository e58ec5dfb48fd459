import KiiPushCore
import Testing

let topicPaths: [(Scope, String)] = [
    (.app, "/apps/a1/topics"), (.user("u 1"), "/apps/a1/users/u%201/topics"), (.user("me"), "/apps/a1/users/me/topics"),
    (.group("g/1"), "/apps/a1/groups/g%2F1/topics"),
    (.thing("VENDOR_THING_ID:v-1"), "/apps/a1/things/VENDOR_THING_ID:v-1/topics"),
]

let topicCalls: [EndpointRow] = topicPaths.flatMap { scope, path -> [EndpointRow] in
    let topic = Topic("news_1", in: scope)
    let parents = [(404, "USER_NOT_FOUND"), (404, "GROUP_NOT_FOUND"), (404, "THING_NOT_FOUND")]
    return [
        EndpointRow(
            name: "create a topic in \(scope)", method: "PUT", target: path + "/news_1", authorization: bearerField,
            body: "", successes: [204], reply: "", refusals: parents
        ) { client in
            let answer = try await client.createTopic(topic, token: testToken)
            #expect(answer == .created)
        },
        EndpointRow(
            name: "create a topic strictly in \(scope)", method: "PUT", target: path + "/news_1",
            authorization: bearerField, body: "", successes: [204], reply: "",
            refusals: parents + [(409, "TOPIC_ALREADY_EXISTS")]
        ) { client in try await client.createTopicStrictly(topic, token: testToken) },
        EndpointRow(
            name: "check a topic in \(scope)", method: "GET", target: path + "/news_1", authorization: bearerField,
            successes: [200, 204], reply: "", refusals: parents
        ) { client in
            let answer = try await client.topicExists(topic, token: testToken)
            #expect(answer)
        },
        EndpointRow(
            name: "delete a topic in \(scope)", method: "DELETE", target: path + "/news_1", authorization: bearerField,
            successes: [204], reply: "", refusals: parents + [(404, "TOPIC_NOT_FOUND")]
        ) { client in try await client.deleteTopic(topic, token: testToken) },
        EndpointRow(
            name: "list the topics in \(scope)", method: "GET", target: path, authorization: bearerField,
            successes: [200], reply: #"{"topics":[{"topicID":"a"},{"topicID":"b","x":1}],"paginationKey":"p"}"#,
            refusals: parents
        ) { client in
            let page = try await client.topicPage(in: scope, token: testToken)
            #expect(page == KiiPage([Topic("a", in: scope), Topic("b", in: scope)], paginationKey: "p"))
        },
        EndpointRow(
            name: "list further topics in \(scope)", method: "GET", target: path + "?paginationKey=a%2Fb%3D%26",
            authorization: bearerField, successes: [200], reply: #"{"topics":[],"paginationKey":null}"#,
            refusals: parents
        ) { client in
            let page = try await client.topicPage(in: scope, paginationKey: "a/b=&", token: testToken)
            #expect(page == KiiPage([]))
        },
    ]
}
