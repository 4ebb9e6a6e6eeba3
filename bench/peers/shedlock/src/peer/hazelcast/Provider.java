package peer.hazelcast;

import com.hazelcast.client.HazelcastClient;
import com.hazelcast.client.config.ClientConfig;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.provider.hazelcast4.HazelcastLockProvider;
import peer.Opener;

/** `address` is cluster@host:port. */
public final class Provider implements Opener {
    @Override
    public LockProvider open(String address, String node) {
        String[] parts = address.split("@");
        ClientConfig config = new ClientConfig().setClusterName(parts[0]).setProperty("hazelcast.logging.type", "none");
        config.getNetworkConfig().addAddress(parts[1].split(","));
        config.getConnectionStrategyConfig().getConnectionRetryConfig().setClusterConnectTimeoutMillis(60_000);
        return new HazelcastLockProvider(HazelcastClient.newHazelcastClient(config));
    }
}
