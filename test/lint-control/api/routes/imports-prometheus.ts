// breaks: eslint(no-restricted-imports)
import { Registry } from 'prom-client';

export const registry = new Registry();
