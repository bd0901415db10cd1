// Postgres text holds every character but NUL. A NUL must never make a statement fail for ever.

/** For JSON text: the escape says the same. */
export const jsonForText = (json: string): string => json.replaceAll('\0', '\\u0000');

/** For any other text: the replacement character stands in its place. */
export const plainForText = (text: string): string => text.replaceAll('\0', '\uFFFD');
