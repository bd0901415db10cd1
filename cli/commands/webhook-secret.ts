import { standardWebhookSecretOf } from '../../lib/standard-webhook-secret.ts';
import type { Stores } from '../deps.ts';
import { CliError } from '../format-error.ts';

/** Also in the form that libraries for Standard Webhooks expect. */
export async function readWebhookSecrets({ projects }: Pick<Stores, 'projects'>, id: string) {
  const { secret, nextSecret } = await projects.ensureWebhookSecrets(id);
  return {
    webhookSecret: secret,
    standardWebhookSecret: standardWebhookSecretOf(secret),
    nextWebhookSecret: nextSecret,
    nextStandardWebhookSecret: nextSecret && standardWebhookSecretOf(nextSecret),
  };
}

export async function rotateSecret(
  change: Stores['change'],
  id: string,
  { now, atOnce }: { now?: true; atOnce: string },
): Promise<void> {
  const options = { immediately: now === true };
  const secret = await change((on) => on.rotateWebhookSecret(id, options));
  if (secret !== null) return;
  throw new CliError(
    `The project ${id} has no next webhook secret. Create one with --next, or replace the ` +
      `current secret at once with ${atOnce}.`,
  );
}
