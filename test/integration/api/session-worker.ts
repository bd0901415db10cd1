import { expect } from 'vitest';
import { createLedgerStore } from '../../../systems/postgres/runs/ledger-store.ts';
import { createTurnStore } from '../../../systems/postgres/sessions/turn-store.ts';
import type { ApiFixture } from '../../support/api-fixture.ts';
import { ledgerEntry } from '../systems/postgres/ledger-entry.ts';

/** The database calls of a worker for a session. */
export interface SessionWorker {
  /** A sandbox starts and receives the oldest message. Returns its id. */
  begin: () => Promise<string>;
  /** The sandbox receives the files that wait for the message. */
  writeFiles: () => Promise<void>;
  /** The agent has answered it, with one model call. */
  end: (reply: string) => Promise<void>;
  /** The sandbox is removed, with its unfinished messages. */
  sleep: () => Promise<void>;
}

const hostId = 'h-of-sessions';

export function sessionWorker(fixture: ApiFixture, runId: string): SessionWorker {
  const { admission, frames, hosts } = fixture.stores;
  const turns = createTurnStore(fixture.database.pool);
  const held = { runId, generation: 0, token: 0 };
  let messageId = '';
  let offset = 0;

  async function wakeUp(): Promise<void> {
    await hosts.renew({ hostId, name: 'Of sessions', capacity: 1_000 });
    // Runs that other tests of the file have left would be served before the session.
    await admission.assignWaiting();
    const slot = await turns.claimSlot(runId, held.generation);
    if (slot.outcome !== 'assigned') throw new Error(`no slot: ${slot.outcome}`);
    const lease = await frames.takeLease(runId, hostId, 600_000);
    if (lease === null) throw new Error('no lease');
    Object.assign(held, { generation: slot.generation, token: lease.token });
    offset = lease.byteOffset;
    if (lease.generation < slot.generation) {
      await frames.beginGeneration(runId, lease.token, slot.generation);
      offset = 0;
    }
    await turns.markStarted(held);
  }

  return {
    async begin() {
      if (held.token === 0) await wakeUp();
      const claimed = await turns.claim(held);
      if (claimed.outcome !== 'turn') throw new Error(`no turn: ${claimed.outcome}`);
      ({ messageId } = claimed);
      return messageId;
    },
    async writeFiles() {
      await turns.markFilesWritten(held, await turns.pendingFiles(held, messageId));
    },
    async end(reply) {
      const batch = { ...held, fromOffset: offset, toOffset: offset + 1, frames: [], facts: {} };
      const entry = ledgerEntry({ messageId, costNanos: 250_000_000 });
      await createLedgerStore(fixture.database.pool).record(runId, [entry]);
      const turnEnd = { messageId, exitCode: 0, reply } as const;
      expect(await frames.append(batch, { turnEnd })).toMatchObject({ outcome: 'stored' });
      offset += 1;
    },
    async sleep() {
      expect(await turns.releaseSandbox(runId, held.generation)).toBe(true);
      held.token = 0;
    },
  };
}
