// The versions of a flow's files when an admission and a change of the files run concurrently.

import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createAdmission } from '../../../../systems/postgres/admission/admission.ts';
import type { Pool } from '../../../../systems/postgres/client/pool.ts';
import { createBlobStore } from '../../../../systems/postgres/files/blob-store.ts';
import { createFileStore } from '../../../../systems/postgres/files/file-store.ts';
import { createFlowFileStore } from '../../../../systems/postgres/files/flow-file-store.ts';
import type { InputFiles } from '../../../../systems/postgres/files/input-files.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { testSealer } from '../../../support/database.ts';
import { createScenario } from '../../../support/database-records.ts';
import { useDatabase } from '../../../support/use-database.ts';

const database = useDatabase();

/** Files of the flow, their content already stored. */
async function files(contents: Record<string, string>): Promise<InputFiles> {
  const made = Object.entries(contents).map(async ([path, content]) => {
    const sha256 = createHash('sha256').update(content).digest('hex');
    const size = Buffer.byteLength(content);
    const blobs = createBlobStore(database.pool);
    await blobs.put(Readable.from([Buffer.from(content)]), { sha256, size });
    return { path, sha256, size, mode: 0o644, scope: 'flow' as const };
  });
  return { files: await Promise.all(made), classifiedBy: { sha256: null } };
}

async function createFlow() {
  const made = await createScenario(database.pool, testSealer);
  const { flowId } = made.flow;
  const flowFiles = createFlowFileStore(database.pool);
  /** Adds files by a run that has ended, so that no run needs the replaced files. */
  async function change(contents: Record<string, string>): Promise<void> {
    const { runId } = await made.run();
    const end = { runId, cause: 'completed', detail: null, exitCode: 0 } as const;
    await createRunStore(database.pool, testSealer).endRun(end);
    const given = await flowFiles.add({ runId, flowId }, await files(contents));
    expect(given).toEqual({ outcome: 'added' });
  }
  return { ...made, flowId, flowFiles, change };
}

const seedOf = async (runId: string) =>
  (await createFileStore(database.pool).listSeed(runId)).map(({ path, size }) => [path, size]);

test('a change of files waits for a run that is being admitted with the current version', async () => {
  const { flow, projectId, request, change } = await createFlow();
  await change({ a: '1', b: '1' });
  const client = await database.pool.connect();
  let isOpen = true;
  onTestFinished(() => void (isOpen && client.release(true)));
  // Uses one connection for everything, like a pool of one.
  const admission = createAdmission(client as unknown as Pool, testSealer);
  await client.query('begin');
  const admitted = await admission.admitRun({ ...request(), flowId: flow.flowId, projectId });
  if (admitted.outcome !== 'admitted') throw new Error(admitted.outcome);

  let isDone = false;
  const run = { runId: admitted.run.runId, flowId: flow.flowId };
  const later = changeWithoutRun(run.flowId, { a: '22' }).then(() => (isDone = true));
  await sleep(300);
  expect(isDone).toBe(false);
  await client.query('commit');
  client.release();
  isOpen = false;
  await later;
  expect(await seedOf(run.runId)).toEqual([
    ['a', 1],
    ['b', 1],
  ]);
});

/** The change that adding files to another run of the flow makes, without the row of that run. */
async function changeWithoutRun(flowId: string, contents: Record<string, string>): Promise<void> {
  const { rows } = await database.pool.query<{ id: string }>(
    'select id from runs where flow_id = $1 and ended_at is not null limit 1',
    [flowId],
  );
  const flowFiles = createFlowFileStore(database.pool);
  const given = await flowFiles.add({ runId: rows[0]?.id ?? '', flowId }, await files(contents));
  expect(given).toEqual({ outcome: 'added' });
}

test('files that no version keeps and no active run uses are deleted by the next change', async () => {
  const { flowId, change } = await createFlow();
  const count = async () => {
    const text =
      'select path, valid_from, valid_to from flow_files where flow_id = $1 order by path, valid_from';
    return (await database.pool.query(text, [flowId])).rows;
  };
  await change({ a: '1' });
  await change({ a: '2', b: '2' });
  await change({ a: '3' });
  expect((await count()).map(({ valid_to: to }) => to)).toEqual([2, 3, null, null]);
  await database.pool.query('update flows set files_kept_from = 3 where id = $1', [flowId]);
  await change({ c: '4' });
  expect((await count()).slice(0, 2)).toEqual([
    { path: 'a', valid_from: 3, valid_to: null },
    { path: 'b', valid_from: 2, valid_to: null },
  ]);
  await change({ a: '3', b: '2' });
  expect((await count()).map(({ valid_from: from }) => from)).toEqual([3, 2, 4]);
});

test('files classified by an older .flowignore must be classified again', async () => {
  const { flowId, flowFiles, change, run } = await createFlow();
  await change({ '.flowignore': '*.log' });
  const { runId } = await run();
  const given = await files({ 'x.log': 'x' });
  expect(await flowFiles.add({ runId, flowId }, given)).toEqual({ outcome: 'stale' });
  const rules = await flowFiles.find(flowId, '.flowignore');
  const again = { ...given, classifiedBy: { sha256: rules?.sha256 ?? '' } };
  expect(await flowFiles.add({ runId, flowId }, again)).toEqual({ outcome: 'added' });
});
