import { createPrivateKey, X509Certificate } from 'node:crypto';

const certificate = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** One or several: a chain, or a bundle of authorities. */
export function areCertificates(text: string): boolean {
  const found = text.match(certificate) ?? [];
  return found.length > 0 && found.every((one) => succeeds(() => new X509Certificate(one)));
}

/** One that asks for a passphrase is none: nobody is there to type it. */
export const isPrivateKey = (text: string): boolean => succeeds(() => createPrivateKey(text));

/** The first certificate is the key's; those that follow lead from it to its authority. */
export const isKeyOf = (key: string, certificates: string): boolean =>
  new X509Certificate(certificates).checkPrivateKey(createPrivateKey(key));

/** The words in which each is asked for. */
export const inPem = {
  certificates: 'certificates in PEM',
  key: 'a private key in PEM, without a passphrase',
} as const;

function succeeds(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
