import { exampleRequest } from '../commands/key.ts';
import { type FirstRunSetup, helloName } from './prepare-first-run.ts';

/** Commands that work as they are, from any machine that reaches the service. */
export function nextSteps({
  publicUrl,
  key,
  flowId,
  operator,
  signInLink,
  signInLinkExpiresAt,
}: FirstRunSetup): string {
  const cli = `npx ${publicUrl}/cli.tgz`;
  return `
Start the next run from your shell, with Node.js 20.16 or newer:
  ${cli} login ${publicUrl} --key ${key}
  ${cli} run ${helloName} "Write a poem to poem.txt" --pull .

Or with curl:
${exampleRequest({ publicUrl, key, flowId })}

Sign in as ${operator}. The link works once, until ${signInLinkExpiresAt.toISOString()}:
  ${signInLink}`;
}
