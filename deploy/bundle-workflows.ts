import { builtAheadDir, ensureWorkflowBundle } from '../worker/temporal/workflow-bundle.ts';

await ensureWorkflowBundle({ cacheDir: builtAheadDir });
