// What takes work, loaded together by one import: several at once, beside whatever else goes on, were
// seen to hand out a CommonJS module of the SDK that was half loaded.

export { createActivities } from '../activities/index.ts';
export { createTemporal } from '../systems/temporal/client.ts';
export { installTemporalRuntime } from './temporal-runtime.ts';
export { createWorker } from './worker.ts';
export { ensureWorkflowBundle } from './workflow-bundle.ts';
