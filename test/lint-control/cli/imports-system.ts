// breaks: eslint(no-restricted-imports)
export { createPool } from '../systems/postgres/pool.ts';
