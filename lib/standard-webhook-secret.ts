/**
 * A webhook secret in the form that libraries for Standard Webhooks expect. They decode it to the
 * bytes of the secret, so both signatures of an attempt have the same key.
 */
export const standardWebhookSecretOf = (secret: string): string =>
  `whsec_${Buffer.from(secret).toString('base64')}`;
