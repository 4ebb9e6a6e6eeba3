package peer;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;

/**
 * ShedLock as a process that `bench/locks/actors.mjs` commands: one command a line, answered by one line of JSON. Ends
 * with its standard input.
 *
 * <p>Arguments: provider (hazelcast, redis or jdbc), address, name of the node.
 */
public final class Main {
    private static final Duration LONG = Duration.ofMinutes(10);

    private final LockProvider provider;
    private SimpleLock held;

    private Main(LockProvider provider) {
        this.provider = provider;
    }

    public static void main(String[] args) throws Exception {
        Opener opener = (Opener) Class.forName("peer." + args[0] + ".Provider").getDeclaredConstructor().newInstance();
        Main main = new Main(opener.open(args[1], args[2]));
        answer("{\"ready\":true}");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) answer(main.answerTo(line));
        System.exit(0);
    }

    private static void answer(String json) {
        System.out.println(json);
        System.out.flush();
    }

    private String answerTo(String line) {
        String[] words = line.split(" ");
        try {
            return switch (words[0]) {
                case "acquire" -> acquire(words[1], Long.parseLong(words[2]));
                case "release" -> release();
                // ShedLock's lock has nothing to ask.
                case "status" -> "{\"believes\":" + (held != null) + "}";
                case "ticks" -> ticks(words);
                case "bench" -> new Speed(this::pair).measure(Integer.parseInt(words[1]), Long.parseLong(words[2]));
                default -> throw new IllegalArgumentException("no command is named " + words[0]);
            };
        } catch (Exception error) {
            return "{\"error\":\"" + String.valueOf(error).replaceAll("[^\\w .:()-]", " ") + "\"}";
        }
    }

    private Optional<SimpleLock> lock(String name, Duration atMost, Duration atLeast) {
        return provider.lock(new LockConfiguration(ClockProvider.now(), name, atMost, atLeast));
    }

    private String acquire(String name, long ms) {
        Optional<SimpleLock> lock = lock(name, Duration.ofMillis(ms), Duration.ZERO);
        lock.ifPresent(value -> held = value);
        return "{\"held\":" + lock.isPresent() + ",\"token\":null}";
    }

    private String release() {
        held.unlock();
        held = null;
        return "{\"released\":true}";
    }

    /** ticks NAME FIRST PERIOD COUNT JOB LEASE: by this process's clock, with lockAtLeastFor as the documentation advises. */
    private String ticks(String[] words) throws InterruptedException {
        long first = Long.parseLong(words[2]);
        long period = Long.parseLong(words[3]);
        Duration lease = Duration.ofMillis(Long.parseLong(words[6]));
        List<Long> runs = new ArrayList<>();
        for (long tick = first; tick < first + Long.parseLong(words[4]); tick++) {
            sleepUntil(tick * period);
            Optional<SimpleLock> lock = lock(words[1], lease, lease);
            if (lock.isEmpty()) continue;
            runs.add(tick);
            Thread.sleep(Long.parseLong(words[5]));
            lock.get().unlock();
        }
        return runs.stream().map(String::valueOf).collect(Collectors.joining(",", "{\"runs\":[", "]}"));
    }

    private static void sleepUntil(long wall) throws InterruptedException {
        for (long left = wall - System.currentTimeMillis(); left > 0; left = wall - System.currentTimeMillis()) {
            Thread.sleep(left);
        }
    }

    /** @return ns that the acquisition took */
    private long pair(int flow) {
        long began = System.nanoTime();
        SimpleLock lock = lock("bench-" + flow, LONG, Duration.ZERO)
                .orElseThrow(() -> new IllegalStateException("a free lock was refused"));
        long took = System.nanoTime() - began;
        lock.unlock();
        return took;
    }
}
