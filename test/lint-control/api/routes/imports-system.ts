// breaks: eslint(no-restricted-imports)
export { createRunStore } from '../../systems/postgres/run-store.ts';
