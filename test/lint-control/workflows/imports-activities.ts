// breaks: eslint(no-restricted-imports)
export { createActivities } from '../activities/index.ts';
