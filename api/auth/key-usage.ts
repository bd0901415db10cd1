// Counts every call with an active key: when it arrives, and when it ends with its result. Counts
// are collected in this process and added to the rows of the day every few seconds. Counts that
// were not written yet are lost when the process dies.

import { dayOf, type KeyUsage } from '../../core/agent/usage.ts';
import { limits } from '../../core/limits.ts';
import { createBatchedWriter } from '../../lib/async/batched-writer.ts';
import type { KeyDay, KeyUsageStore } from '../../systems/postgres/accounts/key-usage-store.ts';
import type { App, Caller } from '../app-types.ts';
import { onResponseClose } from '../http/on-response-close.ts';

interface UsageCounter {
  record: (keyId: string, more: Partial<KeyUsage>) => void;
  /** Writes the remaining counts. */
  close: () => Promise<void>;
}

interface UsageCounterDeps {
  keyUsage: Pick<KeyUsageStore, 'add' | 'purge'>;
  now: () => Date;
  onError: (error: unknown) => void;
}

export function createUsageCounter({ keyUsage, now, onError }: UsageCounterDeps): UsageCounter {
  let purging = Promise.resolve();
  let purgedOn = '';
  const writer = createBatchedWriter<KeyDay>({
    everyMs: limits.key.usageEveryMs,
    merge: sum,
    write: (days) => keyUsage.add(days),
    onError,
  });

  /** Once a day in every process: cheap, and safe to repeat. */
  function purgeOldDays(): void {
    const day = dayOf(now());
    if (day === purgedOn) return;
    purgedOn = day;
    purging = keyUsage.purge().catch(onError);
  }

  const timer = setInterval(purgeOldDays, limits.key.usageEveryMs);
  timer.unref();
  return {
    record(keyId, more) {
      const day = dayOf(now());
      writer.add(`${keyId}/${day}`, { ...noCalls, ...more, keyId, day });
    },
    async close() {
      clearInterval(timer);
      await purging;
      await writer.close();
    },
  };
}

const noCalls: KeyUsage = { calls: 0, errors: 0, durationMs: 0 };

const sum = (before: KeyDay, more: KeyDay): KeyDay => ({
  ...more,
  calls: before.calls + more.calls,
  errors: before.errors + more.errors,
  durationMs: before.durationMs + more.durationMs,
});

/** Rate-limited calls count too. The duration of a stream is left out. */
export function countUsage(app: App, counter: UsageCounter): void {
  app.addHook('onRequest', async ({ caller }) => {
    if (isKey(caller)) counter.record(caller.key.keyId, { calls: 1 });
  });
  onResponseClose(app, ({ caller, routeOptions }, reply) => {
    if (!isKey(caller)) return;
    counter.record(caller.key.keyId, {
      errors: reply.statusCode >= 400 ? 1 : 0,
      durationMs: routeOptions.config.isStream === true ? 0 : reply.elapsedTime,
    });
  });
}

/** The calls of agents are not calls with an API key. */
const isKey = (caller: Caller | null): caller is Caller => caller?.agent === null;
