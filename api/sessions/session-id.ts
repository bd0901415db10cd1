import { z } from 'zod';

/** The form of a session ID that a client may choose. */
export const sessionId = z.string().regex(/^[A-Za-z0-9._:-]{1,128}$/, {
  error: 'must be 1 to 128 letters, digits, dots, colons, dashes and underscores',
});
