package peer;

import net.javacrumbs.shedlock.core.LockProvider;

/** Opens ShedLock's provider for one kind of server. */
public interface Opener {
    /**
     * @param address of the server: host:port, for PostgreSQL a JDBC URL
     * @param node    name of this node; nodes of one host must differ as nodes of different hosts do
     */
    LockProvider open(String address, String node) throws Exception;
}
