import Contract
import KiiPushCore
import Testing

extension ClientCall {
    static let subscriptions: [ClientCall] = [
        ClientCall(
            id: "subscriptions.subscribe",
            method: "subscribe(_:to:token:)",
            answers: ["PUSH_SUBSCRIPTION_ALREADY_EXISTS"]
        ) { client, variant in
            let outcome = try await client.subscribe(variant.subscriber, to: variant.target, token: testToken)
            #expect(outcome == .subscribed)
        },
        ClientCall(id: "subscriptions.subscribe", method: "subscribeStrictly(_:to:token:)") { client, variant in
            try await client.subscribeStrictly(variant.subscriber, to: variant.target, token: testToken)
        },
        ClientCall(
            id: "subscriptions.subscribeSelf",
            method: "subscribeSelf(as:to:token:)",
            answers: ["PUSH_SUBSCRIPTION_ALREADY_EXISTS"]
        ) { client, variant in
            let outcome = try await client.subscribeSelf(as: variant.kind, to: variant.target, token: testToken)
            #expect(outcome == .subscribed)
        },
        ClientCall(id: "subscriptions.subscribeSelf", method: "execute(SubscribeSelf)") { client, variant in
            let call = SubscribeSelf(as: variant.kind, to: variant.target, acceptsExisting: false)
            let outcome = try await client.execute(call, token: testToken)
            #expect(outcome == .subscribed)
        },
        ClientCall(
            id: "subscriptions.check",
            method: "isSubscribed(_:to:token:)",
            answers: ["PUSH_SUBSCRIPTION_NOT_FOUND", "TOPIC_NOT_FOUND", "FILTER_NOT_FOUND"]
        ) { client, variant in
            let isSubscribed = try await client.isSubscribed(variant.subscriber, to: variant.target, token: testToken)
            #expect(isSubscribed)
        },
        ClientCall(id: "subscriptions.unsubscribe", method: "unsubscribe(_:from:token:)") { client, variant in
            try await client.unsubscribe(variant.subscriber, from: variant.target, token: testToken)
        },
    ]
}

extension Variant {
    fileprivate var kind: SubscribeSelf.Subscriber { self.labels["kind"] == "user caller" ? .user : .thing }
}
