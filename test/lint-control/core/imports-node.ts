// breaks: eslint(no-restricted-imports)
import { hostname } from 'node:os';

export const name = hostname();
