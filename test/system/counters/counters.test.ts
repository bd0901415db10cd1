// How many statements, commits, Docker calls and Temporal actions the service makes for a run, a
// turn and an idle minute of a session. The numbers are exact on any machine: a change of them is a
// change of the service. They are in expected-counters.json.

import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Call } from '../../support/counters/call-log.ts';
import {
  type CountedService,
  startCountedService,
} from '../../support/counters/counted-service.ts';
import { isCounted } from '../../support/counters/counters.ts';
import { CountersChanged } from '../../support/counters/expected-counters.ts';
import { measureIdleSession } from '../../support/counters/idle.ts';
import { measure } from '../../support/counters/measure.ts';
import { type OwnPostgres, startOwnPostgres } from '../../support/counters/own-postgres.ts';
import { readCommits } from '../../support/counters/postgres-commits.ts';
import {
  type CountedSession,
  openings,
  pausedTurns,
  runs,
  turns,
  warmUp,
} from '../../support/counters/workloads.ts';

const turnCount = 100;

let postgres: OwnPostgres;
let counted: CountedService;
beforeAll(async () => {
  postgres = await startOwnPostgres();
  counted = await startCountedService({ postgresUrl: postgres.url });
}, 240_000);
afterAll(async () => {
  await counted?.close();
  await postgres?.stop();
});

it('makes exactly the committed number of calls', { timeout: 300_000 }, async () => {
  const changes: string[] = [];
  const collect = async <T>(work: Promise<T>): Promise<T | null> => {
    try {
      return await work;
    } catch (error) {
      if (!(error instanceof CountersChanged)) throw error;
      changes.push(error.message);
      return null;
    }
  };
  await warmUp(counted);
  await collect(measure(counted, runs(counted, 2)));

  const opened: CountedSession[] = [];
  await collect(measure(counted, openings(counted, opened)));
  const [session] = opened;
  if (session === undefined) throw new Error('no session was opened');
  const from = counted.log.calls.length;
  const turn = await collect(measure(counted, turns(session, turnCount)));
  const ofTurns = counted.log.calls.slice(from);
  await session.pause();
  await collect(measure(counted, pausedTurns(session, 3)));

  await collect(measureIdleSession(counted, session));
  if (changes.length > 0) throw new Error(changes.join('\n\n'));

  const { service, log } = counted;
  await Promise.all([service.api.kill('SIGTERM'), service.worker.kill('SIGTERM')]);
  const others = countCommits(log.calls) - ofTurns.filter(isCommit).length;
  const ofLateHints = ofTurns.filter(isClaim).length - turnCount;
  expect((await readCommits(postgres.url)) - others - ofLateHints).toBe(
    turnCount * (turn?.['commits'] ?? 0),
  );
});

/** To Postgres, a new connection is a transaction. */
const countCommits = (calls: readonly Call[]): number =>
  calls.filter(
    (call) => call.kind === 'connection' || (call.kind === 'transaction' && call.committed),
  ).length;

const isClaim = (call: Call): boolean => call.kind === 'statement' && call.name === 'claim_turn';
const isCommit = (call: Call): boolean => call.kind === 'transaction' && isCounted(call);
