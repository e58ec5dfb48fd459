import KiiPushCore
import Testing

private let subscriptionPaths: [(SubscriptionTarget, String)] = [
    (.topic(Topic("news")), "/apps/a1/topics/news/push/subscriptions"),
    (.topic(Topic("news", in: .user("u1"))), "/apps/a1/users/u1/topics/news/push/subscriptions"),
    (.topic(Topic("news", in: .group("g1"))), "/apps/a1/groups/g1/topics/news/push/subscriptions"),
    (.topic(Topic("news", in: .thing("th.1"))), "/apps/a1/things/th.1/topics/news/push/subscriptions"),
    (.bucket(Bucket("b?1")), "/apps/a1/buckets/b%3F1/filters/all/push/subscriptions"),
    (.bucket(Bucket("b", in: .user("u1"))), "/apps/a1/users/u1/buckets/b/filters/all/push/subscriptions"),
    (.bucket(Bucket("b", in: .group("g1"))), "/apps/a1/groups/g1/buckets/b/filters/all/push/subscriptions"),
    (.bucket(Bucket("b", in: .thing("th.1"))), "/apps/a1/things/th.1/buckets/b/filters/all/push/subscriptions"),
]

let selfSubscriptionCalls: [EndpointRow] = subscriptionPaths.flatMap { target, path in
    [(SubscribeSelf.Subscriber.user, "/users"), (.thing, "/things")].flatMap { subscriber, suffix -> [EndpointRow] in
        let refusals = [(404, "TOPIC_NOT_FOUND"), (404, "FILTER_NOT_FOUND")]
        return [
            EndpointRow(
                name: "subscribe the \(subscriber) itself to \(target)", method: "POST", target: path + suffix,
                authorization: bearerField, body: "", successes: [204], reply: "", refusals: refusals
            ) { client in
                let answer = try await client.subscribeSelf(as: subscriber, to: target, token: testToken)
                #expect(answer == .subscribed)
            },
            EndpointRow(
                name: "subscribe the \(subscriber) itself strictly to \(target)", method: "POST",
                target: path + suffix, authorization: bearerField, body: "", successes: [204], reply: "",
                refusals: refusals + [(409, "PUSH_SUBSCRIPTION_ALREADY_EXISTS")]
            ) { client in
                let call = SubscribeSelf(as: subscriber, to: target, acceptsExisting: false)
                let answer = try await client.execute(call, token: testToken)
                #expect(answer == .subscribed)
            },
        ]
    }
}

let subscriptionCalls: [EndpointRow] = subscriptionPaths.flatMap { target, path in
    [(alice, "/users/u1"), (lamp, "/things/th.1")].flatMap { principal, suffix -> [EndpointRow] in
        let absent = [(404, "TOPIC_NOT_FOUND"), (404, "FILTER_NOT_FOUND")]
        let parents = [(404, "USER_NOT_FOUND"), (404, "THING_NOT_FOUND")]
        return [
            EndpointRow(
                name: "subscribe \(principal) to \(target)", method: "PUT", target: path + suffix,
                authorization: bearerField, body: "", successes: [204], reply: "", refusals: absent + parents
            ) { client in
                let answer = try await client.subscribe(principal, to: target, token: testToken)
                #expect(answer == .subscribed)
            },
            EndpointRow(
                name: "subscribe strictly \(principal) to \(target)", method: "PUT", target: path + suffix,
                authorization: bearerField, body: "", successes: [204], reply: "",
                refusals: absent + parents + [(409, "PUSH_SUBSCRIPTION_ALREADY_EXISTS")]
            ) { client in try await client.subscribeStrictly(principal, to: target, token: testToken) },
            EndpointRow(
                name: "check \(principal) for \(target)", method: "GET", target: path + suffix,
                authorization: bearerField, successes: [204], reply: "", refusals: parents
            ) { client in
                let answer = try await client.isSubscribed(principal, to: target, token: testToken)
                #expect(answer)
            },
            EndpointRow(
                name: "unsubscribe \(principal) from \(target)", method: "DELETE", target: path + suffix,
                authorization: bearerField, successes: [200, 204], reply: "",
                refusals: absent + parents + [(404, "PUSH_SUBSCRIPTION_NOT_FOUND")]
            ) { client in try await client.unsubscribe(principal, from: target, token: testToken) },
        ]
    }
}
