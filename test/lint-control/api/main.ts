// breaks: eslint(no-restricted-imports)
import { createTemporal } from '../systems/temporal/client.ts';
import { runWorkflow } from '../workflows/run-workflow.ts';

export const built = [createTemporal, runWorkflow];
