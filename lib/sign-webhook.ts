import { createHmac } from 'node:crypto';
import { type AttemptSignature, signatureBase, standardSignatureBase } from '../core/webhook.ts';

interface Signing {
  deliveryId: string;
  unixSeconds: number;
  /** Exactly the text that is sent. */
  body: string;
}

/** Both forms of the signature of a webhook, with the same secret. */
export function signWebhook(
  secret: string,
  { deliveryId, unixSeconds, body }: Signing,
): AttemptSignature {
  const hmacOf = (base: string) => createHmac('sha256', secret).update(base);
  return {
    hmac: hmacOf(signatureBase(unixSeconds, body)).digest('hex'),
    standardHmac: hmacOf(standardSignatureBase(deliveryId, unixSeconds, body)).digest('base64'),
  };
}
