// breaks: eslint(no-restricted-imports)
export { ApiError } from '../api/errors.ts';
