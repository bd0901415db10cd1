import type { Logger } from '../../../config/logger.ts';
import { signInLink } from '../../../core/sign-in.ts';
import { sleep } from '../../../lib/async/sleep.ts';
import type { OperatorStore } from '../../../systems/postgres/accounts/operator-store.ts';

interface FirstSignIn {
  publicUrl: string;
  firstOperator: string;
  logger: Logger;
  operators: Pick<OperatorStore, 'inviteFirst'>;
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

async function announce({
  operators,
  firstOperator,
  publicUrl,
  logger,
}: FirstSignIn): Promise<void> {
  const first = await operators.inviteFirst(firstOperator);
  if (first === null) return;
  const link = signInLink(publicUrl, first.code);
  logger.warn({ link, expiresAt: first.expiresAt }, 'first_sign_in');
}
