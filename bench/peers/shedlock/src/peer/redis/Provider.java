package peer.redis;

import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import peer.Opener;

/**
 * One connection for all threads, which is Lettuce's default. With the system property safeUpdate, an unlock compares the
 * value of the key first.
 */
public final class Provider implements Opener {
    @Override
    public LockProvider open(String address, String node) {
        String[] parts = address.split(":");
        LettuceConnectionFactory connections = new LettuceConnectionFactory(parts[0], Integer.parseInt(parts[1]));
        connections.afterPropertiesSet();
        connections.start();
        return new RedisLockProvider.Builder(connections)
                .safeUpdate(Boolean.getBoolean("safeUpdate"))
                .build();
    }
}
