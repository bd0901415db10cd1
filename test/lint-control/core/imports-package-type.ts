// breaks: eslint(no-restricted-imports)
import type { Logger } from 'pino';

export type Log = Logger;
