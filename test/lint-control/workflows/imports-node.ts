// breaks: eslint(no-restricted-imports)
export { randomUUID } from 'node:crypto';
