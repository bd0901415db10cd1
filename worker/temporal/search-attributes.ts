import type { Logger } from 'pino';
import type { Temporal } from '../../systems/temporal/client.ts';

/**
 * What operators find runs by, where the server does not know it yet. One that refuses keeps no run
 * from its work: it starts without.
 */
export async function registerSearchAttributes(
  temporal: Pick<Temporal, 'ensureSearchAttributes'>,
  logger: Logger,
): Promise<void> {
  try {
    const names = await temporal.ensureSearchAttributes();
    if (names.length > 0) logger.info({ names }, 'search_attributes_registered');
  } catch (err) {
    logger.warn({ err }, 'search_attribute_registration_failed');
  }
}
