import { isFlowrunError } from '../../../client/http/errors.ts';

/** Null if the service has not found what the request names. */
export async function orNull<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (isFlowrunError(error, 'NOT_FOUND')) return null;
    throw error;
  }
}
