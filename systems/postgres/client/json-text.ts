/**
 * JSON text that Postgres accepts. Its text type has every character except NUL, and a NUL would
 * make a statement fail on every retry. The escape means the same.
 */
export const storableJson = (json: string): string => json.replaceAll('\0', '\\u0000');
