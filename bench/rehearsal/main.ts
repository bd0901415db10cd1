// A rehearsal of scale: runs and sessions in simulated sandboxes, with real Postgres, Redis and
// Temporal. It prints what a run, a message and an idle minute cost each part. It measures CPU time
// and not elapsed time, because all parts share this machine with the simulation.

import { setTimeout as sleep } from 'node:timers/promises';
import { exitWithError } from '../../dev/lib/setup-error.ts';
import { describeEnvironment, readEnvironment } from '../measure/environment.ts';
import { type RehearsalSize, readRehearsalArguments } from './arguments.ts';
import { type Cost, costOf, minuteCostOf, type Span } from './costs.ts';
import { ofParts } from './parts.ts';
import { type RehearsalService, startRehearsalService } from './rehearsal-service.ts';
import { type MemoryRow, reportOf } from './report.ts';
import { makeRuns, openSessions, putAllToSleep, sendMessages, untilPaused } from './workloads.ts';

/** With ten tool calls, a turn prints 27 lines in 12 bursts. */
const script = { steps: 10, stepMs: 50 };
/** Work after an answer, such as the pause of a sandbox, counts too. */
const settleMs = 3_000;
const warmUps = 10;

await main().catch(exitWithError);

async function main(): Promise<void> {
  const size = readRehearsalArguments(process.argv.slice(2));
  say(describeEnvironment(await readEnvironment()));
  say(
    Object.entries(size)
      .map((entry) => entry.join(' '))
      .join(' · '),
  );
  const rehearsed = await startRehearsalService(size, script);
  try {
    say(`\n${reportOf(await rehearse(rehearsed, size))}`);
  } finally {
    await rehearsed.stop();
  }
}

async function rehearse(rehearsed: RehearsalService, size: RehearsalSize) {
  const { service, totals } = rehearsed;
  const costs: Cost[] = [];
  const memory: MemoryRow[] = [];

  async function spanOf(work: () => Promise<unknown>): Promise<Span> {
    const before = await totals();
    await work();
    return { before, after: await totals() };
  }
  async function noteMemory(title: string): Promise<void> {
    const { parts } = await totals();
    memory.push({ title, mib: ofParts((part) => parts[part].memoryMib) });
  }
  const idle = () => sleep(size.idleSeconds * 1_000);
  const perMinute = (count: number): number => (count * size.idleSeconds) / 60;

  await makeRuns(service, warmUps);
  await sleep(settleMs);
  say('a minute without work …');
  const empty = minuteCostOf(await spanOf(idle));
  costs.push({ title: 'a minute of the service without work', ...empty });
  async function measure(title: string, units: number, work: () => Promise<unknown>) {
    say(`${title} …`);
    costs.push({ title, ...costOf(await spanOf(work), units, empty) });
  }
  await noteMemory('without work');
  await measure('a run', size.runs, () => makeRuns(service, size.runs).then(settled));
  let sessions: string[] = [];
  await measure('a new session with its first message', size.sessions, async () => {
    sessions = await openSessions(service, size.sessions);
    await untilPaused(service, size.sessions).then(settled);
  });
  await noteMemory(`with ${size.sessions} paused sessions`);
  await measure('a minute of a paused session', perMinute(size.sessions), idle);
  await measure('a message to a paused session', size.messages, async () => {
    await sendMessages(service, sessions, size.messages);
    await untilPaused(service, size.sessions).then(settled);
  });
  await measure('a session that goes to sleep', size.sessions, () =>
    putAllToSleep(service).then(settled),
  );
  await measure('a minute of a sleeping session', perMinute(size.sessions), idle);
  await measure('a message that wakes a session', size.sessions, async () => {
    await sendMessages(service, sessions, size.sessions);
    await untilPaused(service, size.sessions).then(settled);
  });
  return { costs, memory };
}

async function settled(): Promise<void> {
  await sleep(settleMs);
}

function say(text: string): void {
  console.log(text);
}
