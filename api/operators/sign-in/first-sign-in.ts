import type { Logger } from '../../../config/logger.ts';
import { signInLink } from '../../../core/sign-in.ts';
import { sleep } from '../../../lib/async/sleep.ts';
import { processActor } from '../../../lib/process-actor.ts';
import type { AuditLog } from '../../../systems/postgres/accounts/audit-log.ts';

interface FirstSignIn {
  publicUrl: string;
  firstOperator: string;
  logger: Logger;
  audit: Pick<AuditLog, 'changeAs'>;
}

const retryMs = 5_000;

/**
 * Logs the first operator's sign-in link at the very first start. Retries while the database is
 * unavailable. Creates no link if the log level would hide it.
 */
export async function logFirstSignInLink(deps: FirstSignIn, signal: AbortSignal): Promise<void> {
  if (!deps.logger.isLevelEnabled('warn')) return;
  while (!signal.aborted) {
    try {
      return await announce(deps);
    } catch (err) {
      deps.logger.warn({ err }, 'first_sign_in_failed');
      await sleep(retryMs, signal);
    }
  }
}

async function announce({ audit, firstOperator, publicUrl, logger }: FirstSignIn): Promise<void> {
  const first = await audit.changeAs(processActor('settings'), (on) =>
    on.inviteFirstOperator(firstOperator),
  );
  if (first === null) return;
  const link = signInLink(publicUrl, first.code);
  logger.warn({ link, expiresAt: first.expiresAt }, 'first_sign_in');
}
