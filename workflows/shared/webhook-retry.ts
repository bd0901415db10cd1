import { limits } from '../../core/limits.ts';

/**
 * Delays of 2, 10, and min(50, 30) seconds between the four attempts. A workflow that continues
 * another's attempts uses the remaining delays.
 */
export function webhookRetry(firstAttempt: number) {
  const [first, , longest] = limits.webhookDelaysMs;
  return {
    initialInterval: limits.webhookDelaysMs[firstAttempt - 1] ?? first,
    backoffCoefficient: 5,
    maximumInterval: longest,
    maximumAttempts: Math.max(1, limits.webhookAttempts + 1 - firstAttempt),
  };
}
