// breaks: eslint(no-restricted-imports)

import Redis from 'ioredis';
import { createPool } from '../systems/postgres/pool.ts';

export const opened = [createPool, Redis];
