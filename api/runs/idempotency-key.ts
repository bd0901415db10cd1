import { invalid } from '../errors.ts';

interface KeySources {
  /** The `Idempotency-Key` header. */
  header: string | undefined;
  field: string | undefined;
  /** The path of the field, for the error. */
  at: string;
}

/** The key can be in the header or in the body. Null if it is in neither. */
export function resolveIdempotencyKey({ header, field, at }: KeySources): string | null {
  if (header !== undefined && field !== undefined && header !== field) {
    throw invalid(`${at}: differs from the Idempotency-Key header`);
  }
  return header ?? field ?? null;
}
