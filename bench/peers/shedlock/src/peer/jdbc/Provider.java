package peer.jdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.springframework.jdbc.core.JdbcTemplate;
import peer.Opener;

/** With the server's time and the table of its documentation. */
public final class Provider implements Opener {
    private static final int CONNECTIONS = 10;
    private static final String TABLE = "CREATE TABLE IF NOT EXISTS shedlock (name VARCHAR(64) NOT NULL PRIMARY KEY,"
            + " lock_until TIMESTAMP NOT NULL, locked_at TIMESTAMP NOT NULL, locked_by VARCHAR(255) NOT NULL)";

    @Override
    public LockProvider open(String address, String node) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(address);
        config.setUsername("bench");
        config.setMaximumPoolSize(CONNECTIONS);
        JdbcTemplate template = new JdbcTemplate(new HikariDataSource(config));
        // Processes that start together must not create it at once: PostgreSQL would refuse one of them.
        template.execute("DO $$ BEGIN PERFORM pg_advisory_xact_lock(4711); " + TABLE + "; END $$");
        return new JdbcTemplateLockProvider(JdbcTemplateLockProvider.Configuration.builder()
                .withJdbcTemplate(template)
                .withLockedByValue(node)
                .usingDbTime()
                .build());
    }
}
