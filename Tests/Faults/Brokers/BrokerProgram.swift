import KiiPushCore

struct BrokerProgram: Sendable {
    struct Place: Sendable {
        /// Folder of all that the broker writes: empty, or as its last run left it.
        var directory: String
        var port: UInt16
        /// More free ports, for brokers that need some beside MQTT.
        var otherPorts: [UInt16]
        var username: String
        var password: Secret
    }

    /// Contents of the files to write before the start, by name below the place's directory. Mode 0600.
    var files: [String: String] = [:]
    var arguments: [String]
    var environment: [String: String] = [:]

    static func program(of kind: BrokerKind, at place: Place) -> BrokerProgram {
        switch kind {
        case .mosquitto: .mosquitto(at: place)
        case .rabbitmq: .rabbitMQ(at: place)
        case .nats: .nats(at: place)
        }
    }
}

extension BrokerProgram {
    /// mosquitto with default settings, except that it keeps its state if it is killed.
    fileprivate static func mosquitto(at place: Place) -> BrokerProgram {
        BrokerProgram(
            files: [
                "mosquitto.conf": """
                listener \(place.port) 127.0.0.1
                allow_anonymous true
                persistence true
                persistence_location \(place.directory)/
                autosave_interval 1
                autosave_on_changes true
                max_queued_messages 0
                # As root mosquitto becomes a user who may not write here.
                user root

                """
            ],
            // Debian installs mosquitto in a folder that only administrators have in their path.
            arguments: ["sh", "-c", "PATH=$PATH:/usr/sbin; exec mosquitto -c '\(place.directory)/mosquitto.conf'"]
        )
    }

    /// NATS with default settings, and with JetStream, which its MQTT needs.
    fileprivate static func nats(at place: Place) -> BrokerProgram {
        BrokerProgram(
            files: [
                "nats.conf": """
                server_name: kii
                # Not used, and it cannot be switched off: any port.
                listen: "127.0.0.1:-1"
                jetstream { store_dir: "\(place.directory)/jetstream" }
                authorization { user: "\(place.username)", password: "\(place.password.reveal())" }
                mqtt { listen: "127.0.0.1:\(place.port)" }

                """
            ],
            arguments: ["nats-server", "-c", "\(place.directory)/nats.conf"]
        )
    }

    /// RabbitMQ with default settings and only its MQTT plugin.
    ///
    /// Debian's `rabbitmq-server` is only for the system service; the program beside it needs no such user. It needs
    /// epmd. Erlang would start epmd as a lasting daemon, so the command starts one of its own first.
    fileprivate static func rabbitMQ(at place: Place) -> BrokerProgram {
        let directory = place.directory
        return BrokerProgram(
            files: [
                "rabbitmq.conf": """
                listeners.tcp = none
                mqtt.listeners.tcp.1 = 127.0.0.1:\(place.port)
                mqtt.allow_anonymous = false
                default_user = \(place.username)
                default_pass = \(place.password.reveal())

                """,
                "enabled_plugins": "[rabbitmq_mqtt].\n",
            ],
            arguments: [
                "sh", "-c",
                """
                epmd -port "$ERL_EPMD_PORT" -address 127.0.0.1 &
                until epmd -port "$ERL_EPMD_PORT" -names > /dev/null; do sleep 0.1; done
                exec /usr/lib/rabbitmq/bin/rabbitmq-server
                """,
            ],
            environment: [
                // RabbitMQ writes its cookie there.
                "HOME": directory,
                "ERL_EPMD_PORT": "\(place.otherPorts[0])",
                "ERL_EPMD_ADDRESS": "127.0.0.1",
                "RABBITMQ_NODENAME": "kii@localhost",
                "RABBITMQ_DIST_PORT": "\(place.otherPorts[1])",
                "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS":
                    "-start_epmd false -kernel inet_dist_use_interface {127,0,0,1}",
                "RABBITMQ_MNESIA_BASE": "\(directory)/mnesia",
                "RABBITMQ_LOG_BASE": "\(directory)/log",
                "RABBITMQ_CONFIG_FILE": "\(directory)/rabbitmq.conf",
                "RABBITMQ_ADVANCED_CONFIG_FILE": "\(directory)/advanced.config",
                "RABBITMQ_GENERATED_CONFIG_DIR": "\(directory)/generated",
                "RABBITMQ_ENABLED_PLUGINS_FILE": "\(directory)/enabled_plugins",
                // The machine's settings are for its system service.
                "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            ]
        )
    }
}
