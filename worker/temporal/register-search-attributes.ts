import type { Logger } from 'pino';
import type { Temporal } from '../../systems/temporal/client.ts';

/**
 * Registers the search attributes that the server lacks. A failure is only logged: runs start
 * without them.
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
