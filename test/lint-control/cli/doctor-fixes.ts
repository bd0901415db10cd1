// breaks: eslint(no-restricted-imports)
export { createSupervisor } from '../worker/supervisor/supervisor.ts';
