declare function loadHazelcastClient(): typeof import('hazelcast-client');
export = loadHazelcastClient;
