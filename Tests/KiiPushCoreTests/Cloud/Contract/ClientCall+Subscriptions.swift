import Contract
import KiiPushCore
import TestSupport
import Testing

extension ClientCall {
    static let subscriptions: [ClientCall] = [
        ClientCall(
            id: "subscriptions.subscribe",
            method: "subscribe(to:as:acceptsExisting:)",
            answers: ["PUSH_SUBSCRIPTION_ALREADY_EXISTS"]
        ) { client, variant in
            let outcome = try await client.session(testToken).subscribe(to: variant.target, as: variant.subscriber)
            #expect(outcome == true)
        },
        ClientCall(id: "subscriptions.subscribe", method: "subscribe(to:as:acceptsExisting:)") { client, variant in
            try await client.session(testToken).subscribe(
                to: variant.target, as: variant.subscriber, acceptsExisting: false)
        },
        ClientCall(
            id: "subscriptions.check",
            method: "isSubscribed(to:as:)",
            answers: ["PUSH_SUBSCRIPTION_NOT_FOUND", "TOPIC_NOT_FOUND", "FILTER_NOT_FOUND"]
        ) { client, variant in
            let isSubscribed = try await client.session(testToken).isSubscribed(
                to: variant.target, as: variant.subscriber)
            #expect(isSubscribed)
        },
        ClientCall(id: "subscriptions.unsubscribe", method: "unsubscribe(from:as:)") { client, variant in
            try await client.session(testToken).unsubscribe(from: variant.target, as: variant.subscriber)
        },
    ]
}
