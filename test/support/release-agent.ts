import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { foldersOf } from '../../worker/sandbox/sandbox-paths.ts';
import type { Service } from './service.ts';

/** Creates a file in a run's working directory, for which the agent waits. */
export function releaseAgent(
  { dataDir }: Pick<Service, 'dataDir'>,
  runId: string,
  { generation = 1, file = 'go-on' }: { generation?: number; file?: string } = {},
): void {
  const { workspace } = foldersOf(dataDir, { runId, generation });
  writeFileSync(join(workspace, file), '');
}
