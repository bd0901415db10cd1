import { createHash, randomBytes } from 'node:crypto';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const tokenChars = 43;

/** 43 letters and digits: 256 random bits. */
export function randomToken(): string {
  let random = '';
  while (random.length < tokenChars) {
    for (const byte of randomBytes(tokenChars)) {
      // Bytes above the last multiple of 62 are skipped: they would make some characters likelier.
      if (byte < 248) random += alphabet.charAt(byte % alphabet.length);
    }
  }
  return random.slice(0, tokenChars);
}

/** A plain hash is enough for 256 random bits. */
export const hashOfToken = (token: string): Buffer => createHash('sha256').update(token).digest();
