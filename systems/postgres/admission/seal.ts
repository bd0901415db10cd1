import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

export interface Sealer {
  /** Opens only with the same context, so that one run's secret is useless to another. */
  seal(text: string, context: string): Buffer;
  /** Throws if the key, the context or a single bit differs. */
  open(sealed: Buffer, context: string): string;
}

const algorithm = 'aes-256-gcm';
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const headBytes = 1 + nonceBytes + tagBytes;

/** AES-256-GCM. A sealed text is: key id (1 byte), nonce (12), tag (16), ciphertext. */
export function createSealer(key: Buffer): Sealer {
  if (key.length !== keyBytes) throw new Error(`an encryption key has ${keyBytes} bytes`);
  const id = createHash('sha256').update(key).digest().subarray(0, 1);
  return {
    seal(text, context) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([id, nonce, cipher.getAuthTag(), body]);
    },
    open(sealed, context) {
      if (sealed.length < headBytes) throw new Error('a sealed text is too short');
      if (sealed[0] !== id[0]) throw new Error('sealed with another encryption key');
      const nonce = sealed.subarray(1, 1 + nonceBytes);
      const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes })
        .setAAD(Buffer.from(context))
        .setAuthTag(sealed.subarray(1 + nonceBytes, headBytes));
      return (
        decipher.update(sealed.subarray(headBytes), undefined, 'utf8') + decipher.final('utf8')
      );
    },
  };
}
