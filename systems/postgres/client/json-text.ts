/**
 * JSON text that Postgres takes: its text holds every character but NUL, and a NUL must never make
 * a statement fail for ever. The escape says the same.
 */
export const storableJson = (json: string): string => json.replaceAll('\0', '\\u0000');
