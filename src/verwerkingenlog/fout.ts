import type { ProblemStyle } from '../plugins/problem-reply.ts';

/** The standard's `Fout` and `ValidatieFout`: problem documents with a code, a detail, and for 400 always the list of faults. */
export const FOUT: ProblemStyle = {
  mayBeDone:
    'Het kan zijn dat het verzoek toch is uitgevoerd. Een actie vastleggen is met dezelfde `Idempotency-Key` veilig te herhalen; kijk anders eerst na of het is gebeurd.',
  body: ({ kind }, plain) => ({
    type: plain.type,
    code: kind.slug,
    title: plain.title,
    status: plain.status,
    detail: plain.detail ?? kind.explanation,
    instance: plain.instance,
    ...(plain.status === 400
      ? { invalidParams: (plain.invalidParams ?? []).map((fault) => ({ ...fault, name: fault.name || 'body' })) }
      : {}),
  }),
};
