import { Gauge, type Registry } from 'prom-client';

export interface CountedPool {
  totalCount: number;
  idleCount: number;
  waitingCount: number;
}

/** Looked at when somebody asks, and at no other time. */
export function exportPool(registry: Registry, pool: CountedPool): void {
  const connections = new Gauge({
    name: 'flowrun_postgres_connections',
    help: 'Connections to Postgres of this process; waiting: what waits for one.',
    labelNames: ['state'],
    registers: [],
    collect() {
      this.set({ state: 'busy' }, pool.totalCount - pool.idleCount);
      this.set({ state: 'idle' }, pool.idleCount);
      this.set({ state: 'waiting' }, pool.waitingCount);
    },
  });
  registry.registerMetric(connections);
}
