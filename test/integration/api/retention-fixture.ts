import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pino } from 'pino';
import { limits } from '../../../core/limits.ts';
import { createRetentionStore } from '../../../systems/postgres/maintenance/retention-store.ts';
import { createRetention } from '../../../worker/reconciler/jobs/retention.ts';
import type { ApiFixture } from '../../support/api-fixture.ts';
import { setDatabaseClock } from '../systems/postgres/clock.ts';

export const dayMs = 24 * 3_600_000;
export const kept = { runMs: 30 * dayMs, sessionFilesMs: 7 * dayMs, webhookAttemptsMs: 30 * dayMs };
export const start = Date.parse('2026-03-01T12:00:00Z');

export const sha256Of = (content: string | Buffer): string =>
  createHash('sha256').update(content).digest('hex');

/** Retention of a fixture's database, whose clock it sets. */
export function retentionOf(fixture: ApiFixture) {
  const { pool } = fixture.database;

  /** Skips locked runs. */
  async function sweepUnlocked(): Promise<'all' | 'some_locked'> {
    const { purgeRows, rowsDueInMs, purgeBlobs } = createRetention({
      retention: createRetentionStore(pool),
      retentionTimes: kept,
      logger: pino({ level: 'silent' }),
    });
    for (const purge of [purgeRows, purgeBlobs]) {
      let isDone = false;
      while (!isDone) isDone = await purge();
    }
    return rowsDueInMs() < limits.retention.everyMs ? 'some_locked' : 'all';
  }

  return {
    timeIs: (afterMs: number) => setDatabaseClock(pool, new Date(start + afterMs).toISOString()),

    /** Sweeps again while another transaction, such as the API's mark of a start, locks a run. */
    async sweep(): Promise<void> {
      while ((await sweepUnlocked()) === 'some_locked');
    },

    sweepUnlocked,

    async isStored(sha256: string): Promise<boolean> {
      return (await fixture.stores.blobs.has([sha256])).has(sha256);
    },

    async putBlob(text: string): Promise<string> {
      const content = Buffer.from(text);
      const sha256 = sha256Of(content);
      await fixture.stores.blobs.put(Readable.from([content]), { sha256, size: content.length });
      return sha256;
    },
  };
}
