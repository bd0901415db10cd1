import { limits } from '../../core/limits.ts';

/**
 * Temporal multiplies each delay by the coefficient, up to the maximum: this yields the delays of
 * `limits.webhookDelaysMs` as long as the third one is at most the next multiple. A workflow that
 * continues another's attempts uses the remaining delays.
 */
export function webhookRetry(firstAttempt: number) {
  const [first, second, longest] = limits.webhookDelaysMs;
  return {
    initialInterval: limits.webhookDelaysMs[firstAttempt - 1] ?? first,
    backoffCoefficient: second / first,
    maximumInterval: longest,
    maximumAttempts: Math.max(1, limits.webhookAttempts + 1 - firstAttempt),
  };
}
