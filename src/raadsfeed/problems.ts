import type { ProblemKind } from '../lib/problem.ts';

export const raadsfeedProblems = {
  invalidCursor: {
    slug: 'ongeldige-cursor',
    status: 400,
    title: 'Ongeldige cursor',
    explanation:
      'De cursor is onleesbaar, hoort bij een andere feed, ligt voor de geschiedenis die bewaard is of ligt verder dan deze feed. Begin opnieuw bij `/snapshot` en ga met `feedCursor` verder op `/feed`.',
  },
  tooManyStreams: {
    slug: 'te-veel-stromen',
    status: 503,
    title: 'Te veel stromen',
    explanation:
      'Het hoogste aantal stromen tegelijk is bereikt. Wacht het aantal seconden in de kop `Retry-After`, of lees `/feed`: die geeft dezelfde records.',
  },
  searchTooSlow: {
    slug: 'zoekvraag-te-zwaar',
    status: 503,
    title: 'Zoeken duurt te lang',
    explanation:
      'Deze zoekopdracht duurt nu te lang. Gebruik meer of langere woorden, of kies een organisatie of een periode.',
  },
} as const satisfies Record<string, ProblemKind>;
