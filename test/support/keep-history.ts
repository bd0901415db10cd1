import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { repository } from '../../dev/lib/folders.ts';

/** Keeps the history of a workflow for test/unit/workflows/replay.test.ts, without what tells of this machine. */
export async function keepHistory(
  name: string,
  handle: Pick<WorkflowHandle, 'fetchHistory'>,
): Promise<void> {
  const history: unknown = JSON.parse(historyToJSON(await handle.fetchHistory()));
  const json = JSON.stringify(history, withoutTraces, 1).replaceAll(processName, 'recorded');
  await writeFile(join(repository, 'test/histories', `${name}.json`), `${json}\n`);
  console.log(`recorded ${name}`);
}

/** Traces name the folders of the machine that recorded them; a replay does not look at them. */
function withoutTraces(key: string, value: unknown): unknown {
  return key === 'stackTrace' ? undefined : value;
}

/** As Temporal knows a process that was given no other name: by its number and its host. */
const processName = /\d+@[\w.-]+/g;
