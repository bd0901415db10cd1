// breaks: eslint(no-restricted-imports)
export { buildApp } from '../api/app.ts';
