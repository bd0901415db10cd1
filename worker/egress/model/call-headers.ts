import type { IncomingHttpHeaders } from 'node:http';
import type { NetworkPolicy } from '../../../core/flows/flow.ts';
import { splitBetaFlags } from '../../../core/model/beta-flags.ts';

type ForwardedHeaders = Record<string, string | string[]>;

/**
 * The headers of an agent's call that are forwarded, without credentials, and the beta flags that
 * were removed from them.
 */
export function callHeaders(
  headers: IncomingHttpHeaders,
  policy: NetworkPolicy,
): { headers: ForwardedHeaders; removedFlags: string[] } {
  const { kept, removed } = splitBetaFlags(String(headers['anthropic-beta'] ?? ''), policy);
  const forwarded = selectHeaders(headers, (name) => isForwarded(name));
  return {
    headers: { ...forwarded, ...(kept.length > 0 && { 'anthropic-beta': kept.join(',') }) },
    removedFlags: removed,
  };
}

/** Without headers that describe the account of the key's owner, such as its rate limits. */
export const answerHeaders = (headers: IncomingHttpHeaders): ForwardedHeaders =>
  selectHeaders(headers, (name) => relayedHeaders.has(name));

/** Headers that the agent's client sends. The gateway adds those for the body and the key. */
const forwardedHeaders = new Set(
  (
    'accept user-agent anthropic-version anthropic-dangerous-direct-browser-access x-app ' +
    'x-client-request-id x-claude-code-session-id x-claude-code-agent-id ' +
    'x-claude-code-parent-agent-id'
  ).split(' '),
);

const isForwarded = (name: string): boolean =>
  forwardedHeaders.has(name) || name.startsWith('x-stainless-');

/** Headers that the agent's client reads. */
const relayedHeaders = new Set(
  (
    'content-type content-length content-encoding cache-control date request-id retry-after ' +
    'retry-after-ms x-should-retry anthropic-thinking-prefix-mismatch'
  ).split(' '),
);

function selectHeaders(
  headers: IncomingHttpHeaders,
  isSelected: (name: string) => boolean,
): ForwardedHeaders {
  const selected: ForwardedHeaders = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && isSelected(name)) selected[name] = value;
  }
  return selected;
}
