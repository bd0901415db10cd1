import { invalid } from '../errors.ts';

interface Said {
  /** What the `Idempotency-Key` header holds. */
  header: string | undefined;
  field: string | undefined;
  /** The field's path. */
  at: string;
}

/** Header and field are two ways to say one thing; null where neither says it. */
export function oneKey({ header, field, at }: Said): string | null {
  if (header !== undefined && field !== undefined && header !== field) {
    throw invalid(`${at}: differs from the Idempotency-Key header`);
  }
  return header ?? field ?? null;
}
