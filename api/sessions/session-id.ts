import { z } from 'zod';

/** As a caller may choose it. */
export const sessionId = z.string().regex(/^[A-Za-z0-9._:-]{1,128}$/, {
  error: 'must be 1 to 128 letters, digits, dots, colons, dashes and underscores',
});
