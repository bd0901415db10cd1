// breaks: nothing
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from '../../config/logger.ts';
import { limits } from '../../core/limits.ts';

export async function open(logger: Logger): Promise<unknown> {
  await setTimeout(limits.leaseMs);
  logger.info('open');
  return new pg.Pool();
}
