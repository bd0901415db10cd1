// breaks: eslint(no-restricted-imports)
export { runWorkflow } from '../workflows/run-workflow.ts';
