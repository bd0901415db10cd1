import { Gauge, type Registry } from 'prom-client';
import type { RedisMemory } from '../../core/redis-memory.ts';

/** Read at each scrape. Every API process exports the same numbers: aggregate with max, not sum. */
export function exportRedisMemory(
  registry: Registry,
  read: () => Promise<RedisMemory | null>,
): void {
  const memory = new Gauge({
    name: 'flowrun_redis_memory_bytes',
    help: 'Memory of Redis: used, and its limit if it has one.',
    labelNames: ['state'],
    registers: [],
    async collect() {
      const found = await read().catch(() => null);
      this.reset();
      if (found === null) return;
      this.set({ state: 'used' }, found.usedBytes);
      if (found.limitBytes !== null) this.set({ state: 'limit' }, found.limitBytes);
    },
  });
  registry.registerMetric(memory);
}
