import { builtAheadDir, ensureWorkflowBundle } from '../worker/workflow-bundle.ts';

await ensureWorkflowBundle({ cacheDir: builtAheadDir });
