/** An unvalidated JSON object. Read its members with the functions below. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Null if the line is not a JSON object. */
export function parseObject(line: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

export function objectIn(value: JsonObject, name: string): JsonObject {
  const member = value[name];
  return isObject(member) ? member : {};
}

export function listIn(value: JsonObject, name: string): readonly unknown[] {
  const member = value[name];
  return Array.isArray(member) ? member : [];
}

export function textIn(value: JsonObject, name: string): string | null {
  const member = value[name];
  return typeof member === 'string' ? member : null;
}

/** Null if the value is nested too deeply to serialize. */
export function jsonText(value: unknown): string | null {
  try {
    return JSON.stringify(value) ?? null;
  } catch {
    return null;
  }
}
