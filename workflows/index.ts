export { runWorkflow } from './run-workflow.ts';
export { scheduledTriggerWorkflow } from './scheduled-trigger-workflow.ts';
export { sessionWorkflow } from './session-workflow.ts';
export { webhookWorkflow } from './webhook-workflow.ts';
