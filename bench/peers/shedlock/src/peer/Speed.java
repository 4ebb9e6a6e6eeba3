package peer;

import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** Flows that each repeat a pair of acquisition and release; each flow is a thread. */
final class Speed {
    private final IntToLongFunction pair;

    Speed(IntToLongFunction pair) {
        this.pair = pair;
    }

    String measure(int flows, long ms) throws InterruptedException {
        long began = System.nanoTime();
        long until = began + ms * 1_000_000;
        ConcurrentLinkedQueue<long[]> taken = new ConcurrentLinkedQueue<>();
        AtomicReference<RuntimeException> fault = new AtomicReference<>();
        Thread[] threads = IntStream.range(0, flows)
                .mapToObj(flow -> new Thread(() -> taken.add(timesOf(flow, until, fault))))
                .toArray(Thread[]::new);
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
        double took = (System.nanoTime() - began) / 1e6;
        if (fault.get() != null) throw fault.get();
        long[] all = taken.stream().flatMapToLong(Arrays::stream).sorted().toArray();
        return String.format(Locale.ROOT, "{\"pairs\":%d,\"ms\":%.3f,\"p50\":%.1f,\"p99\":%.1f}",
                all.length, took, all[all.length / 2] / 1e3, all[all.length * 99 / 100] / 1e3);
    }

    private long[] timesOf(int flow, long until, AtomicReference<RuntimeException> fault) {
        LongStream.Builder times = LongStream.builder();
        try {
            while (System.nanoTime() < until) times.add(pair.applyAsLong(flow));
        } catch (RuntimeException error) {
            fault.set(error);
        }
        return times.build().toArray();
    }
}
