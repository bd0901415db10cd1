export { runWorkflow } from './run-workflow.ts';
export { webhookWorkflow } from './webhook-workflow.ts';
