import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { repository } from '../../../../dev/lib/folders.ts';
import { createHostStore } from '../../../../systems/postgres/hosts/host-store.ts';
import { testSealer } from '../../../support/database.ts';
import { createScenario } from '../../../support/database-records.ts';
import { useDatabase } from '../../../support/use-database.ts';

const database = useDatabase();
const program = join(repository, 'test/integration/systems/postgres/assigning-process.ts');

interface Assigning {
  child: ChildProcessByStdio<Writable, Readable, null>;
  lines: AsyncIterator<string>;
}

async function startProcess(): Promise<Assigning> {
  const child = spawn(process.execPath, [program, database.url], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  expect(await lines.next()).toMatchObject({ value: 'ready' });
  return { child, lines };
}

async function resultOf({ child, lines }: Assigning) {
  const { value } = await lines.next();
  if (child.exitCode === null) await once(child, 'exit');
  expect(child.exitCode).toBe(0);
  return JSON.parse(value) as { assigned: string[]; found: number }; // as the program writes it
}

// Each process checks after each assignment that no host has more runs than slots, and that no run
// waits while a later one of its project does not.
test('four processes that assign at once give each run one slot, and keep the order', async () => {
  const projects = await Promise.all(
    Array.from({ length: 3 }, () => createScenario(database.pool, testSealer)),
  );
  const runIds: string[] = [];
  for (let nth = 0; nth < 20; nth += 1)
    for (const project of projects) runIds.push((await project.run()).runId);
  const processes = await Promise.all(Array.from({ length: 4 }, startProcess));
  for (const [hostId, capacity] of [
    ['h-1', 3],
    ['h-2', 2],
  ] as const)
    await createHostStore(database.pool).renew({ hostId, name: hostId, capacity });
  for (const { child } of processes) child.stdin.write('go\n');
  const results = await Promise.all(processes.map(resultOf));
  expect(results.flatMap(({ assigned }) => assigned).toSorted()).toEqual(runIds.toSorted());
  expect(results.map(({ found }) => found)).toEqual([0, 0, 0, 0]);
});
