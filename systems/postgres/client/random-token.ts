import { createHash, randomBytes } from 'node:crypto';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const tokenChars = 43;

/** 43 letters and digits: 256 bits of chance. */
export function randomToken(): string {
  let random = '';
  while (random.length < tokenChars) {
    for (const byte of randomBytes(tokenChars)) {
      // The bytes above the last whole multiple of 62 would make some characters likelier.
      if (byte < 248) random += alphabet.charAt(byte % alphabet.length);
    }
  }
  return random.slice(0, tokenChars);
}

/** Against so much chance a plain hash is enough. */
export const hashOfToken = (token: string): Buffer => createHash('sha256').update(token).digest();
