/** Headers of an answer to save, with which no browser renders it or guesses its type. */
export const attachmentHeaders = (name: string): Record<string, string> => ({
  'content-disposition': `attachment; filename="${name}"`,
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'cache-control': 'private, no-cache',
});
