import type { GiveRefusal } from './input-files.ts';

/** Takes back with it all that its transaction has done. */
export class FilesRefused extends Error {
  readonly refusal: GiveRefusal;
  constructor(why: GiveRefusal) {
    super(`the files were refused: ${why.outcome}`);
    this.name = 'FilesRefused';
    this.refusal = why;
  }
}

/** Outside of that transaction a refusal is an answer. */
export async function orRefusal<T>(stored: Promise<T>): Promise<T | GiveRefusal> {
  try {
    return await stored;
  } catch (error) {
    if (error instanceof FilesRefused) return error.refusal;
    throw error;
  }
}
