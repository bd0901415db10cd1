// Encrypts the encryption key for a backup: AES-256-GCM with a key derived from a passphrase by
// scrypt. The cost allows about ten guesses per second and core.

import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  randomBytes,
  type ScryptOptions,
  scryptSync,
} from 'node:crypto';

export interface SealedKey {
  salt: Buffer;
  /** Nonce (12), tag (16), ciphertext. */
  sealed: Buffer;
}

export const passphraseMinChars = 12;

const cost: ScryptOptions = { N: 2 ** 17, r: 8, p: 1, maxmem: 2 ** 28 };
const algorithm = 'aes-256-gcm';
const purpose = Buffer.from('flowrun backup: encryption key');
const nonceBytes = 12;
const tagBytes = 16;

export function sealKey(key: Buffer, passphrase: string): SealedKey {
  const salt = randomBytes(16);
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, deriveKey(passphrase, salt), nonce).setAAD(purpose);
  const body = Buffer.concat([cipher.update(key), cipher.final()]);
  return { salt, sealed: Buffer.concat([nonce, cipher.getAuthTag(), body]) };
}

/** Null if the passphrase is wrong or the sealed key was modified. */
export function openKey({ salt, sealed }: SealedKey, passphrase: string): Buffer | null {
  const nonce = sealed.subarray(0, nonceBytes);
  const decipher = createDecipheriv(algorithm, deriveKey(passphrase, salt), nonce, {
    authTagLength: tagBytes,
  })
    .setAAD(purpose)
    .setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
  try {
    const body = decipher.update(sealed.subarray(nonceBytes + tagBytes));
    return Buffer.concat([body, decipher.final()]);
  } catch {
    return null;
  }
}

/** Identifies a key without revealing anything about it: keys are random. */
export const keyIdOf = (key: Buffer): string =>
  createHmac('sha256', key).update('flowrun backup: key id').digest('hex').slice(0, 32);

const deriveKey = (passphrase: string, salt: Buffer): Buffer =>
  scryptSync(passphrase.normalize('NFKC'), salt, 32, cost);
