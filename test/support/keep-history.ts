import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { repository } from '../../dev/lib/folders.ts';

/** Stores a workflow's history for replay.test.ts, without traces of this machine. */
export async function keepHistory(
  name: string,
  handle: Pick<WorkflowHandle, 'fetchHistory'>,
): Promise<void> {
  const history: unknown = JSON.parse(historyToJSON(await handle.fetchHistory()));
  const json = JSON.stringify(history, withoutTraces, 1).replaceAll(processName, 'recorded');
  await writeFile(join(repository, 'test/histories', `${name}.json`), `${json}\n`);
  console.log(`recorded ${name}`);
}

/** Stack traces contain paths of this machine. A replay ignores them. */
function withoutTraces(key: string, value: unknown): unknown {
  return key === 'stackTrace' ? undefined : value;
}

/** Temporal's default identity of a process: its pid and its host name. */
const processName = /\d+@[\w.-]+/g;
