import { Gauge, type Registry } from 'prom-client';

export interface DiskSpace {
  freeBytes: number;
  reserveBytes: number;
}

/** The last reading. Every API process exports the same numbers: aggregate with max, not sum. */
export function exportPostgresDisk(registry: Registry, last: () => DiskSpace | null): void {
  const disk = new Gauge({
    name: 'flowrun_postgres_disk_bytes',
    help: "Space of Postgres' disk: free, and the reserve below which new data is rejected.",
    labelNames: ['state'],
    registers: [],
    collect() {
      const space = last();
      this.reset();
      if (space === null) return;
      this.set({ state: 'free' }, space.freeBytes);
      this.set({ state: 'reserve' }, space.reserveBytes);
    },
  });
  registry.registerMetric(disk);
}
