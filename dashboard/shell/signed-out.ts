import { signal } from '@preact/signals';

/** True after a response that no operator is signed in. */
export const isSignedOut = signal(false);
