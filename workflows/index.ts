export { runWorkflow } from './run/run-workflow.ts';
export { scheduledTriggerWorkflow } from './schedule/scheduled-trigger-workflow.ts';
export { sessionWorkflow } from './session/session-workflow.ts';
export { eventWorkflow } from './webhook/event-workflow.ts';
export { webhookWorkflow } from './webhook/webhook-workflow.ts';
