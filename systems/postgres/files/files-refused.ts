import type { FileConflict } from './input-files.ts';

/** Takes back with it all that its transaction has done. */
export class FileConflictError extends Error {
  readonly conflict: FileConflict;
  constructor(why: FileConflict) {
    super(`the files were refused: ${why.outcome}`);
    this.name = 'FilesRefused';
    this.conflict = why;
  }
}

/** Outside of that transaction a refusal is an answer. */
export async function orConflict<T>(stored: Promise<T>): Promise<T | FileConflict> {
  try {
    return await stored;
  } catch (error) {
    if (error instanceof FileConflictError) return error.conflict;
    throw error;
  }
}
