// A stand-in for the REST API of GitHub, by its published descriptions of
// "Create an issue comment" and "Get a pull request".

import { z } from 'zod';
import { type Exchange, startStandIn } from './stand-in.ts';

interface Comment {
  number: string;
  body: string;
}

interface GithubApi {
  url: string;
  comments: Comment[];
  close(): Promise<void>;
}

const newComment = z.strictObject({ body: z.string().min(1).max(65_536) });
const repository = '/repos/acme/shop';

/** `diffs` by the numbers of the pull requests. */
export async function startGithubApi(diffs: Record<string, string>): Promise<GithubApi> {
  const comments: Comment[] = [];

  function answer({ method, path, headers, body }: Exchange) {
    if (headers.authorization !== 'Bearer ghs_token') return { status: 401 };
    if (headers['user-agent'] === undefined) return { status: 403 };
    const [, number] = new RegExp(`^${repository}/issues/(\\d+)/comments$`).exec(path) ?? [];
    if (method === 'POST' && number !== undefined) {
      const comment = newComment.safeParse(JSON.parse(body));
      if (!comment.success) return { status: 422 };
      comments.push({ number, body: comment.data.body });
      return { status: 201, body: JSON.stringify({ id: comments.length, ...comment.data }) };
    }
    const [, pull = ''] = new RegExp(`^${repository}/pulls/(\\d+)$`).exec(path) ?? [];
    const diff = diffs[pull];
    if (method !== 'GET' || diff === undefined) return { status: 404 };
    if (headers.accept === 'application/vnd.github.diff') return { status: 200, body: diff };
    return { status: 200, body: JSON.stringify({ number: Number(pull) }) };
  }

  return { ...(await startStandIn(answer)), comments };
}
