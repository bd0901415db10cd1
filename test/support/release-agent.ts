import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { foldersOf } from '../../worker/sandbox/sandbox-paths.ts';
import type { Service } from './service.ts';

/** Makes the file `go-on` in a run's working directory, for an agent that waits for it. */
export function releaseAgent(
  { dataDir }: Pick<Service, 'dataDir'>,
  runId: string,
  generation = 1,
): void {
  const { workspace } = foldersOf(dataDir, { runId, generation });
  writeFileSync(join(workspace, 'go-on'), '');
}
