import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DefaultLogger } from '@temporalio/worker';
import { ensureWorkflowBundle } from '../../worker/temporal/workflow-bundle.ts';

/** The workflows in one file, built once for all test files that need it. */
export const testBundle = (workflowsPath?: string): Promise<{ codePath: string }> =>
  ensureWorkflowBundle({
    cacheDir: join(tmpdir(), 'flowrun-test-bundles'),
    logger: new DefaultLogger('ERROR'),
    ...(workflowsPath && { workflowsPath }),
  });
