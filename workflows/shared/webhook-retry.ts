import { limits } from '../../core/limits.ts';

/**
 * Temporal multiplies each delay by the coefficient, up to the maximum: this yields the delays of
 * `limits.webhook.delaysMs` as long as the third one is at most the next multiple. A workflow that
 * continues another's attempts uses the remaining delays.
 */
export function webhookRetry(firstAttempt: number) {
  const [first, second, longest] = limits.webhook.delaysMs;
  return {
    initialInterval: limits.webhook.delaysMs[firstAttempt - 1] ?? first,
    backoffCoefficient: second / first,
    maximumInterval: longest,
    maximumAttempts: Math.max(1, limits.webhook.attempts + 1 - firstAttempt),
  };
}
