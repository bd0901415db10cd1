import { invalid } from '../errors.ts';

interface KeySources {
  /** What the `Idempotency-Key` header holds. */
  header: string | undefined;
  field: string | undefined;
  /** The field's path. */
  at: string;
}

/** Header and field are two ways to say one thing; null where neither says it. */
export function resolveIdempotencyKey({ header, field, at }: KeySources): string | null {
  if (header !== undefined && field !== undefined && header !== field) {
    throw invalid(`${at}: differs from the Idempotency-Key header`);
  }
  return header ?? field ?? null;
}
