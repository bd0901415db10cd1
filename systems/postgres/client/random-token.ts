import { createHash, createHmac, randomBytes } from 'node:crypto';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const tokenChars = 43;

/** 43 letters and digits: 256 random bits. */
export const randomToken = (): string => tokenOf(() => randomBytes(tokenChars));

/** A token in the same format, which is always the same for a key and a purpose. */
export function derivedToken(key: Buffer, purpose: string): string {
  let block = 0;
  return tokenOf(() => {
    block += 1;
    return createHmac('sha256', key).update(`${block} ${purpose}`).digest();
  });
}

function tokenOf(nextBytes: () => Buffer): string {
  let token = '';
  while (token.length < tokenChars) {
    for (const byte of nextBytes()) {
      // Bytes above the last multiple of 62 are skipped: they would make some characters likelier.
      if (byte < 248) token += alphabet.charAt(byte % alphabet.length);
    }
  }
  return token.slice(0, tokenChars);
}

/** A plain hash is enough for 256 random bits. */
export const hashOfToken = (token: string): Buffer => createHash('sha256').update(token).digest();
