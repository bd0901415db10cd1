import { ensureWorkflowBundle, prebuiltDir } from '../worker/temporal/workflow-bundle.ts';

await ensureWorkflowBundle({ cacheDir: prebuiltDir });
