export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function textAt(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value === 'string') return value;
  throw new Error(`"${name}" takes a text, not ${JSON.stringify(value)}`);
}

/** A number, or `otherwise` where the field is absent. */
export function numberAt(fields: Fields, name: string, otherwise?: number): number {
  const value = fields[name] ?? otherwise;
  if (typeof value === 'number') return value;
  throw new Error(`"${name}" takes a number, not ${JSON.stringify(value)}`);
}

export function fieldsAt(fields: Fields, name: string): Fields {
  const value = fields[name];
  if (isFields(value)) return value;
  throw new Error(`"${name}" takes an object, not ${JSON.stringify(value)}`);
}
