// A session of a supervisor's process. Tests control its hints and claims. Postgres, the engine and
// the agent are real.

import { randomUUID } from 'node:crypto';
import type { SandboxTurn } from '../../../../../activities/sandbox.ts';
import { sessionChannel, startChannel } from '../../../../../core/hosts/host-rpc.ts';
import type { Pool } from '../../../../../systems/postgres/client/pool.ts';
import { createHostStore } from '../../../../../systems/postgres/hosts/host-store.ts';
import { createMessageStore } from '../../../../../systems/postgres/sessions/message-store.ts';
import {
  createTurnStore,
  type TurnStore,
} from '../../../../../systems/postgres/sessions/turn-store.ts';
import type { SupervisorDeps } from '../../../../../worker/sandbox/deps.ts';
import type { Supervisor } from '../../../../../worker/sandbox/supervisor.ts';
import type { SandboxRef } from '../../../../../workflows/shared/activities.ts';
import { testSealer } from '../../../../support/database.ts';
import { createScenario } from '../../../../support/database-records.ts';
import { script } from '../../../../support/prompts.ts';
import { createSupervisorFixture, type SupervisorFixture } from '../supervisor-fixture.ts';

interface HintedSession {
  fixture: SupervisorFixture;
  ref: SandboxRef;
  process: Supervisor;
  /** Stores a message and returns its ID. */
  store(steps: object[]): Promise<string>;
  /** Notifies the process. */
  notify(): void;
  /** Notifies the process of a placed sandbox. */
  notifyStart(subject: string): void;
  /** Notifies the process, and waits for the resulting claims. Returns their number. */
  hint(): Promise<number>;
  runTurn(by?: Supervisor): Promise<SandboxTurn>;
  /** The messages that the log announces or whose turns have ended, in order. */
  logged(event: 'user_message' | 'turn_end'): Promise<string[]>;
}

/** A session whose first turn has ended, and a process of its host. */
export async function startSession(
  pool: Pool,
  given: Partial<SupervisorDeps> = {},
  changedTurns: Partial<TurnStore> = {},
): Promise<HintedSession> {
  const fixture = await createSupervisorFixture(pool);
  const { hostId } = fixture;
  await createHostStore(pool).renew({ hostId, name: 'test', capacity: 1_000 });
  const scenario = await createScenario(pool, testSealer, { flow: { runner: hostId } });
  const { runId } = await scenario.session();
  const ref = { runId, generation: 1 };
  const turns = { ...createTurnStore(pool), ...changedTurns };
  const listeners = new Set<() => void>();
  let onStart: (subject: string) => void = () => undefined;
  const claims: Promise<unknown>[] = [];
  const process = fixture.process({
    notifications: {
      subscribeBestEffort(name, onNotified) {
        if (name === startChannel(hostId)) onStart = onNotified;
        const listener = () => onNotified('');
        if (name === sessionChannel(runId)) listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    },
    turns: {
      ...turns,
      claim(lease) {
        const claimed = turns.claim(lease);
        claims.push(claimed.catch(() => undefined));
        return claimed;
      },
    },
    ...given,
  });
  const session: HintedSession = {
    ...{ fixture, ref, process },
    async store(steps) {
      const message = { runId, messageId: randomUUID(), clientMessageId: null };
      await createMessageStore(pool).store({ ...message, text: script(steps) });
      return message.messageId;
    },
    notify() {
      for (const listener of listeners) listener();
    },
    notifyStart: (subject) => onStart(subject),
    async hint() {
      const before = claims.length;
      session.notify();
      await Promise.all(claims.slice(before));
      return claims.length - before;
    },
    runTurn: (by = process) => by.runTurn(ref, new AbortController().signal),
    async logged(event) {
      const frames = (await fixture.log(ref)).filter((frame) => frame.event === event);
      return frames.map(({ data }) => (JSON.parse(data) as { messageId: string }).messageId);
    },
  };
  await session.store([{ say: 'One.' }]);
  await turns.claimSlot(runId, 0);
  await process.start(ref);
  await session.runTurn();
  return session;
}
