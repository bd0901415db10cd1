import { limits } from '../../core/limits.ts';

/**
 * 2, 10, and min(50, 30) seconds between the four attempts. Whoever takes them over in their middle goes
 * on with the delays that are left.
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
