/** What was told of it at the start; unlike the details of a start, a history that begins anew has it too. */
export interface Memo {
  prompt: string;
  /** Of the service's own, with all that there is to say. */
  page?: string;
}

/** As the pages of Temporal's web interface show it. */
export const linkTo = (page: string): string => `[In full](${page}), for operators of the service`;
